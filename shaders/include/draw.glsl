// What the vertex shaders of the draw stage share: their constants, and where a vertex lands.

layout(constant_id = 0) const uint method = 0u;
layout(constant_id = 1) const bool rigid = false;
#define THRONG_METHOD method
#define THRONG_RIGID rigid
#include "throng.glsl"

layout(push_constant) uniform Draw {
    uint primitive_index;
    uint flip;  // see throng_faces
};

vec4 place(ThrongInstance instance, vec3 position) {
    // All vertices of what is left out meet in one point.
    return throng_faces(instance, flip) ? throng_transform_clip(throng_view.clip_from_world, position) : vec4(0.0, 0.0, 0.0, 1.0);
}
