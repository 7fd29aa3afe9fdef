// Stage pyramid: the farthest depth of each block of pixels that a view shows, which the stage cull
// reads. Level l has blocks of 2^l pixels in both directions, cut at the edge of the picture, and
// its sizes are rounded up. A workgroup makes a square of 64 texels of one level, and of the six
// levels above it.

const uint PYRAMID_LANES = 128u;
// The edge of a workgroup's square, in texels of its second level.
const uint EDGE = 32u;
// Nearer than all depths.
const float NEAREST = -3.0e38;

layout(local_size_x = PYRAMID_LANES) in;

layout(set = 0, binding = 0, std430) buffer Pyramids { float pyramids[]; };

layout(push_constant) uniform Push {
    uvec2 first;   // texel of the image that is the first of the picture
    uvec2 end;     // past its last one
    uvec2 size;    // of the level that is made first, in texels
    uint start;    // of that level
    uint levels;   // that are made
    uint shift;    // levels between the image and the first one
    float toward;  // 1, or -1 if depth decreases with distance: its sign in the pyramid
    uint samples;
};

shared float blocks[EDGE * EDGE];

// Stores a texel of a level, if the level has it.
void store(const uvec2 texel, const uvec2 level_size, const uint level_start, const float depth) {
    if (all(lessThan(texel, level_size))) {
        pyramids[level_start + texel.y * level_size.x + texel.x] = depth;
    }
}

// Makes the levels above the one that is in `blocks`. `level` is its number, counted from the level
// that is made first.
void reduce(const uvec2 tile, uint level, uvec2 level_size, uint level_start) {
    uint lane = gl_LocalInvocationID.x;
    for (uint edge = EDGE / 2u; edge > 0u && ++level < levels; edge /= 2u) {
        level_start += level_size.x * level_size.y;
        level_size = (level_size + 1u) / 2u;
        float found[EDGE * EDGE / 4u / PYRAMID_LANES];
        for (uint i = 0u; i < found.length(); ++i) {
            uint at = lane + i * PYRAMID_LANES;
            if (at < edge * edge) {
                uint from = at / edge * 2u * EDGE + at % edge * 2u;
                found[i] = max(max(blocks[from], blocks[from + 1u]),
                               max(blocks[from + EDGE], blocks[from + EDGE + 1u]));
            }
        }
        barrier();
        for (uint i = 0u; i < found.length(); ++i) {
            uint at = lane + i * PYRAMID_LANES;
            if (at < edge * edge) {
                uvec2 texel = uvec2(at % edge, at / edge);
                blocks[texel.y * EDGE + texel.x] = found[i];
                store(tile * edge + texel, level_size, level_start, found[i]);
            }
        }
        barrier();
    }
}
