// Stage cull: whether a volume is hidden by what an engine drew before. See GpuOcclusion for the
// record, whose first row is `at`, and pyramid.glsl for `pyramids`.
//
// A volume that is said to be hidden has no fragment that could pass the depth test: its rectangle
// is widened by more than rasterisers snap, and its depth by the rounding of coordinates.

#ifndef TEST_ROW
#define TEST_ROW(at) view_rows[at]
#endif

const uint OCCLUSION_ROWS = 20u, OCCLUSION_ROUNDING = 4u, OCCLUSION_EDGES = 6u;
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
    uvec2 first = low >> level, last = high >> level;
    for (uint y = first.y; y <= last.y; ++y) {
        for (uint x = first.x; x <= last.x; ++x) {
            if (!(nearest > pyramids[place.x + y * place.y + x])) {
                return false;
            }
        }
    }
    return true;
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
    return covered(at, level, first, last, nearest)
           || (level > finest
               && covered(at, level - min(level - finest, FINER), first, last, nearest));
}

// True if a box is hidden. Its center and half of its edges are products with the four rows, and
// `away` is a bound of the sum of a point's coordinates.
bool hides(const uint at, const vec4 center, const vec4 a, const vec4 b, const vec4 c,
           const float away) {
    vec4 rounding = TEST_ROW(at + OCCLUSION_ROUNDING) * away
                    + TEST_ROW(at + OCCLUSION_ROUNDING + 1u);
    float least_w = center.w - (abs(a.w) + abs(b.w) + abs(c.w)) - rounding.w;
    vec3 low = vec3(3.0e38), high = vec3(-3.0e38);
    for (uint corner = 0u; corner < 8u; ++corner) {
        vec4 point = center + ((corner & 1u) == 0u ? a : -a) + ((corner & 2u) == 0u ? b : -b)
                     + ((corner & 4u) == 0u ? c : -c);
        vec3 place = point.xyz / point.w;
        low = min(low, place);
        high = max(high, place);
    }
    return hides_rectangle(at, low, high, least_w, rounding);
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

// True if a sphere in world space is hidden.
bool hides_sphere(const uint at, const vec3 center, const float radius) {
    // The box around it along the directions of the picture.
    float half_edge = radius + TEST_ROW(at + OCCLUSION_LIMITS).w;
    vec4 a = TEST_ROW(at + OCCLUSION_EDGES) * half_edge;
    vec4 b = TEST_ROW(at + OCCLUSION_EDGES + 1u) * half_edge;
    vec4 c = TEST_ROW(at + OCCLUSION_EDGES + 2u) * half_edge;
    return hides(at, placed(at, center), a, b, c, sum_of(center) + 2.0 * half_edge);
}

// Half of the edges of a box whose faces are moved out by a margin.
mat3 widened(const mat3 edges, const float margin) {
    vec3 faces = vec3(length(cross(edges[1], edges[2])), length(cross(edges[2], edges[0])),
                      length(cross(edges[0], edges[1])));
    vec3 factors = 1.0 + faces * (margin / abs(determinant(edges)));
    return mat3(edges[0] * factors.x, edges[1] * factors.y, edges[2] * factors.z);
}

// True if a box in world space is hidden, which has this center and half of these edges. They need
// not be perpendicular.
bool hides_box(const uint at, const vec3 center, mat3 edges) {
    float margin = TEST_ROW(at + OCCLUSION_LIMITS).w;
    if (margin > 0.0) {
        edges = widened(edges, margin);
    }
    float away = sum_of(center) + sum_of(edges[0]) + sum_of(edges[1]) + sum_of(edges[2]);
    return hides(at, placed(at, center), turned(at, edges[0]), turned(at, edges[1]),
                 turned(at, edges[2]), away);
}
