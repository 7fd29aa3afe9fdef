// Bounding spheres in world space, from those in character space and the rows of a transform: as
// WorldSphere::new in src/crowd/visibility/cull.rs, with the same roundings.

// A relative error above that of any coordinate here: sixteen roundings.
const float ROUNDING = 1.0 / 1048576.0;

vec3 sphere_center(const vec4 a, const vec4 b, const vec4 c, const vec3 from) {
    precise vec3 center = vec3(a.x, b.x, c.x) * from.x + vec3(a.y, b.y, c.y) * from.y
                          + vec3(a.z, b.z, c.z) * from.z + vec3(a.w, b.w, c.w);
    return center;
}

// The largest scale of a transform.
float largest_scale(const vec3 a, const vec3 b, const vec3 c) {
    precise vec3 squares = a * a + b * b + c * c;
    precise vec3 across = abs(a * a.yzx + b * b.yzx + c * c.yzx);
    precise vec3 sums = squares + across + across.zxy;
    return sqrt(max(max(sums.x, sums.y), sums.z)) * (1.0 + ROUNDING);
}

// The radius of a sphere in character space where the largest scale is `scale`.
float sphere_radius(const vec4 sphere, const float scale) {
    precise float squared = sphere.x * sphere.x + sphere.y * sphere.y + sphere.z * sphere.z;
    precise float radius = sphere.w * scale + 2.0 * sqrt(squared) * scale * ROUNDING;
    return radius;
}
