// Stage pyramid, for depth with several samples.
#version 460
#extension GL_EXT_samplerless_texture_functions : require
#extension GL_GOOGLE_include_directive : require
#define SAMPLES
#include "include/pyramid_image.glsl"
