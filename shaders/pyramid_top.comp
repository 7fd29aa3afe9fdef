// The second dispatch of stage pyramid: one workgroup. It makes the levels above the seventh, which
// is at most a square of 32 texels, and which the push constants have in place of the first.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/pyramid.glsl"

void main() {
    for (uint at = gl_LocalInvocationID.x; at < EDGE * EDGE; at += PYRAMID_LANES) {
        uvec2 texel = uvec2(at % EDGE, at / EDGE);
        bool inside = all(lessThan(texel, size));
        blocks[at] = inside ? pyramids[start + texel.y * size.x + texel.x] : NEAREST;
    }
    barrier();
    reduce(uvec2(0u), 0u, size, start);
}
