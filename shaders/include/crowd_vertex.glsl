// The draw stage. There is one indexed, instanced draw per primitive for all visible instances of a
// character.
#include "draw.glsl"

layout(location = 0) out vec3 out_position;
layout(location = 1) out vec3 out_normal;
layout(location = 2) out vec4 out_tangent;
layout(location = 3) out vec4 out_uv;
layout(location = 4) out vec4 out_color;
layout(location = 5) flat out uint out_user;
layout(location = 6) out vec3 out_tint;
layout(location = 7) out vec3 out_second_tint;
layout(location = 8) flat out uint out_material;

void main() {
    uint instance = drawn();
    uint vertex = uint(gl_VertexIndex);
    ThrongVertex deformed = throng_deform(instance, primitive, vertex);
    out_position = deformed.position;
    out_normal = deformed.normal;
    out_tangent = deformed.tangent;
    out_uv = vec4(throng_uv(primitive, vertex), throng_uv1(primitive, vertex));
    vec3 tints[2];
    out_color = throng_base(instance, primitive, vertex, tints);
    out_tint = tints[0];
    out_second_tint = tints[1];
    out_user = throng_instances[instance].user;
    out_material = 0u;
    if (throng_has(primitive, THRONG_VARIES)) {
        out_material = throng_material(instance, primitive);
    }
    gl_Position = place(instance, deformed.position);
}
