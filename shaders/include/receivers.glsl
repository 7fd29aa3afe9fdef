// Stage cull: whether a camera may see something in the shadow of a caster. See GpuOcclusion for
// the record of the light's eye, and Receivers for the rule.
//
// The shadow is the hull of the caster's box and its image on a plane, away from the light. It is
// unseen by an eye if it lies outside of one of the eye's planes, or if depth hides it. Nothing
// below the plane receives shadows, so corners below it count as their images.

// Rows of a record of an occlusion, for an eye of a light.
const uint RECEIVERS_LIGHT = 17u, RECEIVERS_PLANE = 18u, RECEIVERS_MISSED = 19u;
// See GpuCullView.
const uint VIEW_RECEIVERS = 16u;

// The corners of the box, and their images.
struct Sweep {
    vec3 ends[16];
    float away;  // a bound of the sum of a point's coordinates
};

// A row of the record in product with a point.
float along(const vec4 row, const vec3 point) {
    return dot(row.xyz, point) + row.w;
}

vec3 corner_of(const vec3 center, const mat3 edges, const uint corner) {
    vec3 signs = vec3((corner & 1u) == 0u ? 1.0 : -1.0, (corner & 2u) == 0u ? 1.0 : -1.0,
                      (corner & 4u) == 0u ? 1.0 : -1.0);
    return center + edges * signs;
}

// Sweeps a box to the plane. Returns false if it does not end there.
bool sweep_box(const uint at, const vec3 center, const mat3 edges, inout Sweep sweep) {
    vec4 light = TEST_ROW(at + RECEIVERS_LIGHT), plane = TEST_ROW(at + RECEIVERS_PLANE);
    // Positive if the light is above the plane.
    float above = dot(plane, light);
    float steepest = 0.0;
    sweep.away = 0.0;
    bool ends = true;
    for (uint corner = 0u; corner < 8u; ++corner) {
        vec3 point = corner_of(center, edges, corner);
        float height = along(plane, point);
        float w = above - light.w * height;
        // Not a point below the light.
        ends = ends && w > 1e-3 * above;
        vec3 end = (point * above - light.xyz * height) / w;
        sweep.ends[corner] = height < 0.0 ? end : point;
        sweep.ends[corner + 8u] = end;
        sweep.away = max(sweep.away, max(sum_of(point), sum_of(end)));
        steepest = max(steepest, length(light.xyz - light.w * point) / w);
    }
    // Where light grazes the plane, rounding moves images farther.
    sweep.away *= 1.0 + steepest;
    return ends && above > 0.0 && sweep.away < 1e9;
}

// True if all of a sweep lies outside of one of an eye's planes.
bool sweep_outside(const uint eye, const Sweep sweep) {
    for (uint plane = 0u; plane < 6u; ++plane) {
        vec4 inward = view_rows[eye * VIEW_ROWS + plane];
        vec4 both = view_rows[eye * VIEW_ROWS + 6u + (plane >> 1)];
        vec2 rounding = (plane & 1u) == 0u ? both.xy : both.zw;
        float most = -3.0e38;
        for (uint end = 0u; end < 16u; ++end) {
            most = max(most, along(inward, sweep.ends[end]));
        }
        if (most + sweep.away * rounding.x + rounding.y < 0.0) {
            return true;
        }
    }
    return false;
}

// True if depth hides all of a sweep from an eye, whose record is `at`.
bool sweep_hidden(const uint at, const Sweep sweep) {
    vec4 rounding = TEST_ROW(at + OCCLUSION_ROUNDING) * sweep.away
                    + TEST_ROW(at + OCCLUSION_ROUNDING + 1u);
    vec3 low = vec3(3.0e38), high = vec3(-3.0e38);
    float least_w = 3.0e38;
    for (uint end = 0u; end < 16u; ++end) {
        vec4 point = placed(at, sweep.ends[end]);
        vec3 place = point.xyz / point.w;
        low = min(low, place);
        high = max(high, place);
        least_w = min(least_w, point.w);
    }
    return hides_rectangle(at, low, high, least_w - rounding.w, rounding);
}

// True if no eye of the camera sees something in the shadow of a box, for the light's eye whose
// record is `at`.
bool casts_unseen(const uint at, const vec3 center, const mat3 edges) {
    vec4 by = TEST_ROW(at + RECEIVERS_MISSED);
    // Lookups miss by some texels, which are larger far from the light: by this, once it is known.
    // What is that far from the shadow of the box is in the shadow of a box that is wider by this.
    Sweep sweep;
    float missed = 0.0;
    for (uint pass = 0u; pass < 2u; ++pass) {
        mat3 wider = pass == 0u ? edges : widened(edges, missed);
        if (!sweep_box(at, center, wider, sweep)) {
            return false;
        }
        for (uint end = 0u; end < 16u; ++end) {
            missed = pass == 0u ? max(missed, along(by, sweep.ends[end])) : missed;
        }
    }
    uint camera = floatBitsToUint(TEST_ROW(at + OCCLUSION_LEVELS).w);
    View view = view_of(camera);
    uint more = EYES ? view.more & 255u : 0u, first = view.more >> 8;
    bool unseen = true;
    for (uint number = 0u; number <= more && unseen; ++number) {
        uint eye = number == 0u ? camera : first + number - 1u;
        unseen = sweep_outside(eye, sweep)
                 || (is_tested(view_of(eye).flags) && sweep_hidden(occlusion_of(eye), sweep));
    }
    return unseen;
}
