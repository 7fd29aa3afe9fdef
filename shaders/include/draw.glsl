// What the vertex shaders of the draw stage share: constants, push constants, clip position.

layout(constant_id = 0) const uint throng_variant_constant = 0xFFFFFFFFu;  // THRONG_NONE
#define THRONG_VARIANT throng_variant_constant
#include "throng.glsl"

layout(push_constant) uniform Draw {
    uint primitive;
    uint flip;        // see throng_faces
    uint level;       // of detail, for fragment shaders
    uint list;        // see throng_instance
    uint hidden_at;   // see throng_hides
    uint hidden_bit;
};

// The clip position of a vertex. All vertices of an instance that this draw leaves out meet in one
// point.
vec4 place(const uint instance, const vec4 clip) {
    bool left_out = throng_has(primitive, THRONG_MAY_FLIP) && !throng_faces(instance, flip);
    if (left_out || throng_hides(instance, hidden_at, hidden_bit)) {
        return vec4(0.0, 0.0, 0.0, 1.0);
    }
    return clip;
}
