// Stage budget.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/budget_stage.glsl"
