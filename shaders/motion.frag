// Motion vectors.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/motion.glsl"

void main() {
    out_motion = motion();
}
