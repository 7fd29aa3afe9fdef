// The draw stage of passes that write only depth, for several eyes at once.
#version 460
#extension GL_GOOGLE_include_directive : require
#define THRONG_MULTIVIEW
#include "include/depth_vertex.glsl"
