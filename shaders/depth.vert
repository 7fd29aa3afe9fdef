// The draw stage of passes that write only depth.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/depth_vertex.glsl"
