// The built-in shading, with an environment map, for several eyes at once.
#version 460
#extension GL_GOOGLE_include_directive : require
#define THRONG_MULTIVIEW
#define THRONG_ENVIRONMENT
#include "include/pbr.glsl"
