// The draw stage of motion passes, for masked surfaces.
#include "draw.glsl"

layout(location = 0) out vec3 out_position;
layout(location = 1) out vec3 out_normal;
layout(location = 2) out vec4 out_tangent;
layout(location = 3) out vec4 out_uv;
layout(location = 4) out vec4 out_color;
layout(location = 5) flat out uint out_user;
layout(location = 8) flat out uint out_material;
layout(location = 6) out vec4 out_now;
layout(location = 7) out vec4 out_then;

void main() {
    uint instance = drawn();
    uint vertex = uint(gl_VertexIndex);
    vec3 now = throng_deform_position(instance, primitive, vertex);
    ThrongPast past = throng_previous(instance);
    vec3 then = throng_previous_position(past, primitive, vertex);
    out_position = now;
    out_normal = vec3(0.0);
    out_tangent = vec4(0.0);
    out_uv = vec4(throng_uv(primitive, vertex), throng_uv1(primitive, vertex));
    out_color = throng_base(instance, primitive, vertex);
    out_user = throng_instances[instance].user;
    out_material = 0u;
    if (throng_has(primitive, THRONG_VARIES)) {
        out_material = throng_material(instance, primitive);
    }
    out_now = throng_transform_clip(THRONG_EYE.steady_clip_from_world, now);
    out_then = throng_transform_clip(THRONG_EYE.previous_clip_from_world, then);
    gl_Position = place(instance, now);
}
