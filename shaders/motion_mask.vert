// The draw stage of motion passes, for masked surfaces.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/motion_mask_vertex.glsl"
