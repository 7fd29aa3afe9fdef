// The first dispatch of stage pyramid, which reads the image.
#include "pyramid.glsl"

#ifdef SAMPLES
layout(set = 0, binding = 1) uniform texture2DMS image;
#else
layout(set = 0, binding = 1) uniform texture2D image;
#endif

// The farthest depth of a texel of the first level.
float farthest(const uvec2 texel) {
    uvec2 begin = first + (texel << shift), past = min(begin + (1u << shift), end);
    float depth = NEAREST;
    for (uint y = begin.y; y < past.y; ++y) {
        for (uint x = begin.x; x < past.x; ++x) {
#ifdef SAMPLES
            for (uint number = 0u; number < samples; ++number) {
                depth = max(depth, texelFetch(image, ivec2(x, y), int(number)).x * toward);
            }
#else
            depth = max(depth, texelFetch(image, ivec2(x, y), 0).x * toward);
#endif
        }
    }
    return depth;
}

void main() {
    uvec2 tile = gl_WorkGroupID.xy, level_size = (size + 1u) / 2u;
    uint level_start = start + size.x * size.y;
    for (uint at = gl_LocalInvocationID.x; at < EDGE * EDGE; at += PYRAMID_LANES) {
        uvec2 block = tile * EDGE + uvec2(at % EDGE, at / EDGE);
        float depth = NEAREST;
        for (uint i = 0u; i < 4u; ++i) {
            uvec2 texel = block * 2u + uvec2(i & 1u, i >> 1);
            if (all(lessThan(texel, size))) {
                float own = farthest(texel);
                store(texel, size, start, own);
                depth = max(depth, own);
            }
        }
        blocks[at] = depth;
        if (levels > 1u) {
            store(block, level_size, level_start, depth);
        }
    }
    barrier();
    reduce(tile, 1u, level_size, level_start);
}
