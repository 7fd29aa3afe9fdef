// The built-in shading, with all textures of a character in one array, for several eyes at once.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_nonuniform_qualifier : require
#define THRONG_BINDLESS
#define THRONG_MULTIVIEW
#include "include/pbr.glsl"
