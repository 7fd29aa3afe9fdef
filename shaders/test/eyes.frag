// Test only: see eyes.glsl.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "test/eyes.glsl"
