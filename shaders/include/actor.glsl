// Instances and their actors in the instance table: GpuInstance and GpuActor.

// Rows of 16 bytes.
const uint INSTANCE_ROWS = 8u;
const uint ACTOR_ROWS = 3u;
// Flags of an actor.
const uint ACTOR_FLIPPED = 1u, ACTOR_HIDES = 2u, ACTOR_NEW = 4u, ACTOR_POSED = 8u;
const uint ACTOR_SKINS = 16u;
// Above those, as the upper half of a float: see GpuActor::pose_error.
const uint ACTOR_POSE_ERROR = 0xFFFF0000u;
// The number of its plays, below the first one.
const uint PLAY_COUNT_BITS = 4u;

// A row of the matrix for normals: the cofactor matrix times the sign of the determinant, of the
// matrix scaled to a largest element of 1, with a little of the identity. Then normals keep their
// direction where an instance is scaled to nothing. w is the sign of the determinant.
vec4 normal_row(vec3 a, vec3 b, vec3 c, const uint row) {
    vec3 m = max(max(abs(a), abs(b)), abs(c));
    float largest = max(max(m.x, m.y), m.z);
    float scale = largest > 0.0 ? largest : 1.0;
    a /= scale;
    b /= scale;
    c /= scale;
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
