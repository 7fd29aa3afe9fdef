// Stage cull, which also tests instances against depth.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_GOOGLE_include_directive : require
#define BEHIND
#include "include/cull_stage.glsl"
