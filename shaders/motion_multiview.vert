// The draw stage of motion passes, for several eyes at once.
#version 460
#extension GL_GOOGLE_include_directive : require
#define THRONG_MULTIVIEW
#include "include/motion_vertex.glsl"
