// Stage cull.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/cull_stage.glsl"
