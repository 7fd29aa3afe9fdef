// Depth of masked materials.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/mask.glsl"
