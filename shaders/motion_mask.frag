// Motion vectors of masked surfaces.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/motion_mask.glsl"
