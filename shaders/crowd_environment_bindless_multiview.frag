// The built-in shading, with an environment map, all textures of a character in one array, for
// several eyes at once.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_nonuniform_qualifier : require
#define THRONG_BINDLESS
#define THRONG_MULTIVIEW
#define THRONG_ENVIRONMENT
#include "include/pbr.glsl"
