// The built-in shading, with a shadow map.
#version 460
#extension GL_GOOGLE_include_directive : require
#define THRONG_SHADOWED
#include "include/pbr.glsl"
