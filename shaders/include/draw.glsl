// What the vertex shaders of the draw stage share: constants, push constants, clip position.

layout(constant_id = 0) const uint throng_variant_constant = 0xFFFFFFFFu;  // THRONG_NONE
#define THRONG_VARIANT throng_variant_constant
#include "throng.glsl"

layout(push_constant) uniform Draw {
    uint primitive;
    uint flip;   // see throng_faces
    uint level;  // of detail, for fragment shaders
    uint list;   // see throng_instance
};

// The instance that is drawn. Without THRONG_LIST_STARTS, the list starts at the first instance.
uint drawn() {
    if (throng_has(primitive, THRONG_LIST_STARTS)) {
        return throng_instance(list, gl_InstanceIndex);
    }
    return throng_visible[gl_InstanceIndex];
}

vec4 place(const uint instance, const vec3 position) {
    // All vertices of an instance that this draw leaves out meet in one point.
    if (throng_has(primitive, THRONG_MAY_FLIP) && !throng_faces(instance, flip)) {
        return vec4(0.0, 0.0, 0.0, 1.0);
    }
    return throng_clip(position);
}
