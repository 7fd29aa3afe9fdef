// How matrices and dual quaternions transform points, directions and normals. A part of
// throng.glsl.

vec3 throng_transform_point(const vec4 rows[3], const vec3 point) {
    precise vec3 result = vec3(
        rows[0].x * point.x + rows[0].y * point.y + rows[0].z * point.z + rows[0].w,
        rows[1].x * point.x + rows[1].y * point.y + rows[1].z * point.z + rows[1].w,
        rows[2].x * point.x + rows[2].y * point.y + rows[2].z * point.z + rows[2].w);
    return result;
}

vec3 throng_unit_or(const vec3 direction, const vec3 otherwise) {
    // Scaled to a largest element of 1 first, because squares of small numbers would underflow.
    float largest = max(max(abs(direction.x), abs(direction.y)), abs(direction.z));
    return largest > 0.0 ? normalize(direction / largest) : otherwise;
}

// Directions are transformed by the matrix itself.
vec3 throng_transform_direction(const vec4 rows[3], const vec3 direction) {
    vec3 image = vec3(dot(rows[0].xyz, direction), dot(rows[1].xyz, direction),
                      dot(rows[2].xyz, direction));
    return throng_unit_or(image, direction);
}

// The sign of the determinant: -1 if the matrix flips.
float throng_handedness(const vec4 rows[3]) {
    vec3 a = rows[0].xyz, b = rows[1].xyz, c = rows[2].xyz;
    vec3 m = max(max(abs(a), abs(b)), abs(c));
    float largest = max(max(max(m.x, m.y), m.z), 1e-37);
    return dot(a / largest, cross(b / largest, c / largest)) < 0.0 ? -1.0 : 1.0;
}

// Normals are transformed by the cofactor matrix times the sign of the determinant. That is the
// inverse transpose up to a positive factor, without a division, and right for flipped matrices and
// non-uniform scale. The matrix is scaled to a largest element of 1 first, because small scales
// would underflow.
vec3 throng_transform_normal(const vec4 rows[3], const vec3 normal) {
    vec3 a = rows[0].xyz, b = rows[1].xyz, c = rows[2].xyz;
    vec3 m = max(max(abs(a), abs(b)), abs(c));
    float largest = max(max(m.x, m.y), m.z);
    if (largest == 0.0) {
        return normal;
    }
    a /= largest;
    b /= largest;
    c /= largest;
    vec3 bc = cross(b, c);
    vec3 n = vec3(dot(bc, normal), dot(cross(c, a), normal), dot(cross(a, b), normal));
    return throng_unit_or(n * (dot(a, bc) < 0.0 ? -1.0 : 1.0), normal);
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
    precise vec4 clip = clip_from_world[0] * p.x + clip_from_world[1] * p.y
                        + clip_from_world[2] * p.z + clip_from_world[3];
    return clip;
}

#ifndef THRONG_NO_INSTANCES
// Triangles that follow one joint that may flip them are drawn twice, with either front face.
// This says whether a draw is the right one for an instance. `flip` is THRONG_NONE for all other
// draws. Otherwise it is the palette entry that decides, times 2, plus 1 if the draw is for
// instances where that entry flips.
bool throng_faces(const ThrongInstance instance, const uint flip) {
    if (flip == THRONG_NONE) {
        return true;
    }
    ThrongMatrix entry = throng_palette(throng_pose(instance).palette, (flip >> 1) * 3u);
    return (throng_handedness(entry.rows) < 0.0) == ((flip & 1u) != 0u);
}
#endif
