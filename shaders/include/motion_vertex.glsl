// The draw stage of motion passes: clip positions of each vertex now and in the last frame of the
// view.
#include "draw.glsl"

layout(location = 6) out vec4 out_now;
layout(location = 7) out vec4 out_then;

void main() {
    uint instance = drawn();
    uint vertex = uint(gl_VertexIndex);
    vec3 now = throng_deform_position(instance, primitive, vertex);
    ThrongPast past = throng_previous(instance);
    vec3 then = throng_previous_position(past, primitive, vertex);
    out_now = throng_transform_clip(THRONG_EYE.steady_clip_from_world, now);
    out_then = throng_transform_clip(THRONG_EYE.previous_clip_from_world, then);
    gl_Position = place(instance, now);
}
