// Stage pyramid, for depth with one sample.
#version 460
#extension GL_EXT_samplerless_texture_functions : require
#extension GL_GOOGLE_include_directive : require
#include "include/pyramid_image.glsl"
