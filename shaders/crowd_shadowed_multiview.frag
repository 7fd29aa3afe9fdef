// The built-in shading, with a shadow map, for several eyes at once.
#version 460
#extension GL_GOOGLE_include_directive : require
#define THRONG_MULTIVIEW
#define THRONG_SHADOWED
#include "include/pbr.glsl"
