// Stage cull: whether a volume is hidden by what an engine drew before. See GpuOcclusion for the
// record, whose first row is `at`, and pyramid.glsl for `pyramids`.
//
// A volume that is said to be hidden has no fragment that could pass the depth test: its rectangle
// is widened by more than rasterisers snap, and its depth by the rounding of coordinates.
//
// Loops over corners stay loops: unrolled, they take thrice the code and half more registers.

#extension GL_EXT_control_flow_attributes : require

#ifndef TEST_ROW
#define TEST_ROW(at) view_rows[at]
#endif

const uint OCCLUSION_ROUNDING = 4u, OCCLUSION_EDGES = 6u;
const uint OCCLUSION_LIMITS = 9u, OCCLUSION_LEVELS = 10u, OCCLUSION_PLACES = 11u;
// Pixels that rasterisers may move an edge by: they have at least 16 places in a pixel.
const float SNAPPED = 0.125;
// A relative error above that of a quotient and of a depth that a rasteriser interpolates.
const float DEPTH_ROUNDING = 4.8e-7;
// Levels between the one whose texels a rectangle touches 2x2 of at most, and the finer one.
const uint FINER = 3u;

// True if all texels of a level that a rectangle of pixels touches are nearer than `nearest`.
bool covered(const uint at, const uint level, const uvec2 low, const uvec2 high,
             const float nearest) {
    uint number = level - floatBitsToUint(TEST_ROW(at + OCCLUSION_LEVELS).y);
    vec4 both = TEST_ROW(at + OCCLUSION_PLACES + (number >> 1));
    uvec2 place = floatBitsToUint((number & 1u) == 0u ? both.xy : both.zw);
    uvec2 first = low >> level, last = high >> level, texel = first;
    while (nearest > pyramids[place.x + texel.y * place.y + texel.x]) {
        ++texel.x;
        if (texel.x > last.x) {
            texel = uvec2(first.x, texel.y + 1u);
        }
        if (texel.y > last.y) {
            return true;
        }
    }
    return false;
}

// True if a rectangle of pixels is hidden, with the depth of its nearest point. `least_w` is a
// bound of the points in it, and `rounding` that of the products with the four rows.
bool hides_rectangle(const uint at, vec3 low, vec3 high, const float least_w,
                     const vec4 rounding) {
    // Nothing bounds the picture of what reaches behind the eye.
    if (!(least_w > 0.0)) {
        return false;
    }
    vec4 limits = TEST_ROW(at + OCCLUSION_LIMITS), rest = TEST_ROW(at + OCCLUSION_LEVELS);
    vec2 slack = SNAPPED + (rounding.xy + rounding.w * max(abs(low.xy), abs(high.xy))) / least_w;
    low.xy = max(low.xy - slack, vec2(0.0));
    high.xy = high.xy + slack;
    if (any(greaterThanEqual(low.xy, limits.xy + 1.0)) || any(lessThan(high.xy, vec2(0.0)))) {
        // It touches no pixel.
        return true;
    }
    // Not for what is not a number.
    if (!all(lessThan(low.xy, limits.xy + 1.0)) || !all(greaterThanEqual(high.xy, vec2(0.0)))) {
        return false;
    }
    float nearest = min(low.z, limits.z);
    nearest -= (rounding.z + rounding.w * abs(nearest)) / least_w + DEPTH_ROUNDING * abs(nearest)
               + rest.x;
    uvec2 first = uvec2(low.xy), last = uvec2(min(high.xy, limits.xy));
    uint finest = floatBitsToUint(rest.y), coarsest = floatBitsToUint(rest.z);
    uint longest = max(last.x - first.x, last.y - first.y);
    uint level = clamp(uint(findMSB(longest) + 1), finest, coarsest);
    uint finer = level - min(level - finest, FINER);
    for (;;) {
        if (covered(at, level, first, last, nearest)) {
            return true;
        }
        if (level == finer) {
            return false;
        }
        level = finer;
    }
}

// The product of a direction with the four rows.
vec4 turned(const uint at, const vec3 v) {
    return vec4(dot(TEST_ROW(at).xyz, v), dot(TEST_ROW(at + 1u).xyz, v),
                dot(TEST_ROW(at + 2u).xyz, v), dot(TEST_ROW(at + 3u).xyz, v));
}

// The product of a point with the four rows.
vec4 placed(const uint at, const vec3 v) {
    return turned(at, v) + vec4(TEST_ROW(at).w, TEST_ROW(at + 1u).w, TEST_ROW(at + 2u).w,
                                TEST_ROW(at + 3u).w);
}

float sum_of(const vec3 v) {
    return (abs(v.x) + abs(v.y)) + abs(v.z);
}

// Half of the edges of a box whose faces are moved out by a margin.
mat3 widened(const mat3 edges, const float margin) {
    vec3 faces = vec3(length(cross(edges[1], edges[2])), length(cross(edges[2], edges[0])),
                      length(cross(edges[0], edges[1])));
    vec3 factors = 1.0 + faces * (margin / abs(determinant(edges)));
    return mat3(edges[0] * factors.x, edges[1] * factors.y, edges[2] * factors.z);
}

// The signs of half edges that lead to a corner.
vec3 signs_of(const uint corner) {
    return vec3((corner & 1u) == 0u ? 1.0 : -1.0, (corner & 2u) == 0u ? 1.0 : -1.0,
                (corner & 4u) == 0u ? 1.0 : -1.0);
}

// True if a volume in world space is hidden: a sphere, or with a negative radius a box. Half of the
// box's edges need not be perpendicular.
bool depth_hides(const uint at, const vec3 center, mat3 edges, const float radius) {
    // Products with the four rows.
    vec4 middle = placed(at, center), a, b, c;
    float margin = TEST_ROW(at + OCCLUSION_LIMITS).w;
    // A bound of the sum of a point's coordinates.
    float away = sum_of(center);
    if (radius < 0.0) {
        if (margin > 0.0) {
            edges = widened(edges, margin);
        }
        a = turned(at, edges[0]);
        b = turned(at, edges[1]);
        c = turned(at, edges[2]);
        away += sum_of(edges[0]) + sum_of(edges[1]) + sum_of(edges[2]);
    } else {
        // The box around it along the directions of the picture.
        float half_edge = radius + margin;
        a = TEST_ROW(at + OCCLUSION_EDGES) * half_edge;
        b = TEST_ROW(at + OCCLUSION_EDGES + 1u) * half_edge;
        c = TEST_ROW(at + OCCLUSION_EDGES + 2u) * half_edge;
        away += 2.0 * half_edge;
    }
    vec4 rounding = TEST_ROW(at + OCCLUSION_ROUNDING) * away
                    + TEST_ROW(at + OCCLUSION_ROUNDING + 1u);
    float least_w = middle.w - (abs(a.w) + abs(b.w) + abs(c.w)) - rounding.w;
    vec3 low = vec3(3.0e38), high = vec3(-3.0e38);
    [[dont_unroll]] for (uint corner = 0u; corner < 8u; ++corner) {
        vec3 signs = signs_of(corner);
        vec4 point = middle + a * signs.x + b * signs.y + c * signs.z;
        vec3 place = point.xyz / point.w;
        low = min(low, place);
        high = max(high, place);
    }
    return hides_rectangle(at, low, high, least_w, rounding);
}
