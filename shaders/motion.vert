// The draw stage of motion passes.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/motion_vertex.glsl"
