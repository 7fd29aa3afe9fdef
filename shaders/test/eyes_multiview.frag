// Test only: see eyes.glsl, for several eyes at once.
#version 460
#extension GL_GOOGLE_include_directive : require
#define THRONG_MULTIVIEW
#include "test/eyes.glsl"
