// The built-in shading, with an environment map.
#version 460
#extension GL_GOOGLE_include_directive : require
#define THRONG_ENVIRONMENT
#include "include/pbr.glsl"
