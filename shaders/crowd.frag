// The built-in shading.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/pbr.glsl"
