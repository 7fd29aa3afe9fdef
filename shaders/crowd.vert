// The draw stage.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/crowd_vertex.glsl"
