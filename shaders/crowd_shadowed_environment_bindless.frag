// The built-in shading, with a shadow map and an environment map, all textures of a character in
// one array.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_nonuniform_qualifier : require
#define THRONG_BINDLESS
#define THRONG_SHADOWED
#define THRONG_ENVIRONMENT
#include "include/pbr.glsl"
