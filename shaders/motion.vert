// The draw stage where only motion is wanted: where each vertex is, and where it was in the view's last frame.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/draw.glsl"

layout(location = 7) out vec4 out_now;
layout(location = 8) out vec4 out_then;

void main() {
    ThrongPrimitive primitive = throng_primitives[primitive_index];
    uint index = throng_visible[gl_InstanceIndex];
    ThrongInstance instance = throng_instances[index];
    uint vertex = uint(gl_VertexIndex);
    vec3 now = throng_deform_position(instance, primitive, vertex);
    vec3 then = throng_previous_position(throng_previous(index, instance), primitive, vertex);
    out_now = throng_transform_clip(throng_view.steady_clip_from_world, now);
    out_then = throng_transform_clip(throng_view.previous_clip_from_world, then);
    gl_Position = place(instance, now);
}
