// The matrix for normals of an instance. A part of scatter.comp and attach.comp.

#include "throng_scale.glsl"

// A row of it: the cofactor matrix times the sign of the determinant, of the matrix scaled to a
// largest element of 1, with a little of the identity. Then normals keep their direction where an
// instance is scaled to nothing. w is the sign of the determinant.
vec4 normal_row(vec3 a, vec3 b, vec3 c, const uint row) {
    throng_scale_to_one(a, b, c);
    vec3 bc = cross(b, c);
    float side = dot(a, bc) < 0.0 ? -1.0 : 1.0;
    if (row == 0u) {
        return vec4(side * bc + vec3(1e-18, 0.0, 0.0), side);
    }
    if (row == 1u) {
        return vec4(side * cross(c, a) + vec3(0.0, 1e-18, 0.0), side);
    }
    return vec4(side * cross(a, b) + vec3(0.0, 0.0, 1e-18), side);
}
