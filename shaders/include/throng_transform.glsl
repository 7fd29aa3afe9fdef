// How matrices and dual quaternions transform points, directions and normals. A part of
// throng.glsl.

vec3 throng_transform_point(const vec4 rows[3], const vec3 point) {
    precise vec3 result = vec3(
        fma(rows[0].x, point.x, fma(rows[0].y, point.y, fma(rows[0].z, point.z, rows[0].w))),
        fma(rows[1].x, point.x, fma(rows[1].y, point.y, fma(rows[1].z, point.z, rows[1].w))),
        fma(rows[2].x, point.x, fma(rows[2].y, point.y, fma(rows[2].z, point.z, rows[2].w))));
    return result;
}

vec3 throng_unit_or(const vec3 direction, const vec3 otherwise) {
    // Scaled to a largest element of 1 first, because squares of small numbers would underflow.
    float largest = max(max(abs(direction.x), abs(direction.y)), abs(direction.z));
    return largest > 0.0 ? normalize(direction / largest) : otherwise;
}

// With the sign of `value` switched if `by` is negative.
float throng_switch_sign(const float value, const float by) {
    return uintBitsToFloat(floatBitsToUint(value) ^ (floatBitsToUint(by) & 0x80000000u));
}

vec3 throng_switch_sign(const vec3 value, const float by) {
    return uintBitsToFloat(floatBitsToUint(value) ^ (floatBitsToUint(by) & 0x80000000u));
}

// Directions are transformed by the matrix itself.
vec3 throng_transform_direction(const vec4 rows[3], const vec3 direction) {
    return vec3(dot(rows[0].xyz, direction), dot(rows[1].xyz, direction),
                dot(rows[2].xyz, direction));
}

// Normals are transformed by the cofactor matrix times the sign of the determinant. That is the
// inverse transpose up to a positive factor, without a division, and right for flipped matrices and
// non-uniform scale. w is a number with the sign of the determinant.
vec4 throng_transform_normal(const vec3 a, const vec3 b, const vec3 c, const vec3 normal) {
    vec3 bc = cross(b, c);
    vec3 image = vec3(dot(bc, normal), dot(cross(c, a), normal), dot(cross(a, b), normal));
    float determinant = dot(a, bc);
    return vec4(throng_switch_sign(image, determinant), determinant);
}

// cross() cannot be precise.
vec3 throng_cross(const vec3 a, const vec3 b) {
    precise vec3 result = a.yzx * b.zxy - a.zxy * b.yzx;
    return result;
}

vec3 throng_rotate(const vec4 q, const vec3 v) {
    precise vec3 inner = throng_cross(q.xyz, v) + q.w * v;
    precise vec3 result = v + 2.0 * throng_cross(q.xyz, inner);
    return result;
}

#ifndef THRONG_NO_INSTANCES
vec3 throng_transform_point(const ThrongDualQuat q, const vec3 point) {
    precise vec3 offset = 2.0 * (q.real.w * q.dual.xyz - q.dual.w * q.real.xyz
                                 + throng_cross(q.real.xyz, q.dual.xyz));
    precise vec3 stretched = q.stretch * point;
    precise vec3 result = throng_rotate(q.real, stretched) + offset;
    return result;
}
#endif

vec4 throng_transform_clip(const mat4 clip_from_world, const vec3 p) {
    precise vec4 clip = fma(clip_from_world[0], vec4(p.x),
                            fma(clip_from_world[1], vec4(p.y),
                                fma(clip_from_world[2], vec4(p.z), clip_from_world[3])));
    return clip;
}

#ifndef THRONG_NO_VIEW
// The clip position of a point in the world, as the view draws it, or its eye.
vec4 throng_clip(const vec3 world) {
    return throng_transform_clip(THRONG_EYE.clip_from_world, world);
}
#endif

#ifndef THRONG_NO_INSTANCES
// Triangles that follow one joint that may flip them are drawn twice, with either front face.
// This says whether a draw is the right one for an instance. `flip` is THRONG_NONE for all other
// draws. Otherwise it is the palette entry that decides, times 2, plus 1 if the draw is for
// instances where that entry flips.
bool throng_faces(const uint instance, const uint flip) {
    if (flip == THRONG_NONE) {
        return true;
    }
    uvec2 at = throng_add(throng_pose(instance).palette, (flip >> 1) * 48u);
    ThrongMatrix entry = throng_palette_matrix(at);
    vec3 a = entry.rows[0].xyz, b = entry.rows[1].xyz, c = entry.rows[2].xyz;
    throng_scale_to_one(a, b, c);
    return (dot(a, cross(b, c)) < 0.0) == ((flip & 1u) != 0u);
}
#endif
