// Test only: the depth pass of an engine's own pipeline, over the lists of the stage cull.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(constant_id = 0) const uint variant = 0xFFFFFFFFu;  // THRONG_NONE
#define THRONG_VARIANT variant
#include "include/throng.glsl"

layout(push_constant) uniform Draw {
    uint primitive;
    uint flip;  // see throng_faces
    uint list;
};

void main() {
    uint instance = throng_instance(list, gl_InstanceIndex);
    vec3 position = throng_deform_position(instance, primitive, uint(gl_VertexIndex));
    gl_Position = throng_faces(instance, flip) ? throng_clip(position) : vec4(0.0, 0.0, 0.0, 1.0);
}
