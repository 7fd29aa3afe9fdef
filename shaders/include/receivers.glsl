// Stage cull: whether a camera may see something in the shadow of a caster. See GpuOcclusion for
// the record of the light's eye, and Receivers for the rule.
//
// The shadow is the hull of the caster's box and its image on a plane, away from the light. It is
// unseen by an eye if it lies outside of one of the eye's planes, or if depth hides it. Nothing
// below the plane receives shadows, so corners below it count as their images.

// True if lights may have receivers.
layout(constant_id = 1) const bool RECEIVERS = false;

// Rows of a record of an occlusion, for an eye of a light.
const uint RECEIVERS_LIGHT = 17u, RECEIVERS_PLANE = 18u, RECEIVERS_MISSED = 19u;
// See GpuCullView.
const uint VIEW_RECEIVERS = 16u;

// A row of the record in product with a point.
float along(const vec4 row, const vec3 point) {
    return dot(row.xyz, point) + row.w;
}

// The image of a point on the plane of a light's record, and what it was divided by.
vec4 image_of(const uint at, const float above, const vec3 point) {
    vec4 light = TEST_ROW(at + RECEIVERS_LIGHT), plane = TEST_ROW(at + RECEIVERS_PLANE);
    float height = along(plane, point);
    float w = above - light.w * height;
    return vec4((point * above - light.xyz * height) / w, w);
}

// True if an eye, whose record is `by`, sees nothing in the shadow of a box, or if the shadow does
// not end. The light's record is `at`, and the light is that far above the plane.
bool shadow_unseen(const uint at, const float above, const vec3 center, const mat3 edges,
                   const uint eye) {
    vec4 light = TEST_ROW(at + RECEIVERS_LIGHT), plane_row = TEST_ROW(at + RECEIVERS_PLANE);
    uint by = occlusion_of(eye);
    float most[6] = float[](-3.0e38, -3.0e38, -3.0e38, -3.0e38, -3.0e38, -3.0e38);
    vec3 low = vec3(3.0e38), high = vec3(-3.0e38);
    float least_w = 3.0e38, away = 0.0, steepest = 0.0;
    bool ends = above > 0.0;
    // The corners, and their images.
    [[dont_unroll]] for (uint end = 0u; end < 16u; ++end) {
        vec3 point = center + edges * signs_of(end & 7u);
        away = max(away, sum_of(point));
        if (end >= 8u || along(plane_row, point) < 0.0) {
            vec4 image = image_of(at, above, point);
            // Not a point below the light.
            ends = ends && image.w > 1e-3 * above;
            steepest = max(steepest, length(light.xyz - light.w * point) / image.w);
            point = image.xyz;
        }
        away = max(away, sum_of(point));
        for (uint plane = 0u; plane < 6u; ++plane) {
            most[plane] = max(most[plane], along(view_rows[eye * VIEW_ROWS + plane], point));
        }
        vec4 clip = placed(by, point);
        vec3 place = clip.xyz / clip.w;
        low = min(low, place);
        high = max(high, place);
        least_w = min(least_w, clip.w);
    }
    // Where light grazes the plane, rounding moves images farther.
    away *= 1.0 + steepest;
    if (!ends || !(away < 1e9)) {
        return false;
    }
    for (uint plane = 0u; plane < 6u; ++plane) {
        vec4 both = view_rows[eye * VIEW_ROWS + 6u + (plane >> 1)];
        vec2 rounding = (plane & 1u) == 0u ? both.xy : both.zw;
        if (most[plane] + away * rounding.x + rounding.y < 0.0) {
            return true;
        }
    }
    vec4 rounding = TEST_ROW(by + OCCLUSION_ROUNDING) * away
                    + TEST_ROW(by + OCCLUSION_ROUNDING + 1u);
    return is_tested(view_of(eye).flags)
           && hides_rectangle(by, low, high, least_w - rounding.w, rounding);
}

// True if no eye of the camera sees something in the shadow of a box, for the light's eye whose
// record is `at`.
bool casts_unseen(const uint at, const vec3 center, const mat3 edges) {
    vec4 by = TEST_ROW(at + RECEIVERS_MISSED);
    float above = dot(TEST_ROW(at + RECEIVERS_PLANE), TEST_ROW(at + RECEIVERS_LIGHT));
    // Lookups miss by some texels, which are larger far from the light: by this. What is that far
    // from the shadow of the box is in the shadow of a box that is wider by this.
    float missed = 0.0;
    [[dont_unroll]] for (uint corner = 0u; corner < 8u; ++corner) {
        vec3 point = center + edges * signs_of(corner);
        vec3 image = image_of(at, above, point).xyz;
        missed = max(missed, max(along(by, point), along(by, image)));
    }
    mat3 wider = widened(edges, missed);
    uint camera = floatBitsToUint(TEST_ROW(at + OCCLUSION_LEVELS).w);
    View view = view_of(camera);
    uint more = EYES ? view.more & 255u : 0u, first = view.more >> 8;
    bool unseen = true;
    for (uint number = 0u; number <= more && unseen; ++number) {
        uint eye = number == 0u ? camera : first + number - 1u;
        unseen = shadow_unseen(at, above, center, wider, eye);
    }
    return unseen;
}
