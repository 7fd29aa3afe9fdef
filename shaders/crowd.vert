// The draw stage: one indexed, instanced draw per primitive for all visible instances of a character.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/throng.glsl"

layout(push_constant) uniform Draw { uint primitive_index; };

layout(location = 0) out vec3 out_position;
layout(location = 1) out vec3 out_normal;
layout(location = 2) out vec2 out_uv;
layout(location = 3) out vec4 out_color;

void main() {
    ThrongPrimitive primitive = throng_primitives[primitive_index];
    ThrongInstance instance = throng_instances[throng_visible[gl_InstanceIndex]];
    uint vertex = uint(gl_VertexIndex);

    ThrongVertex deformed = throng_deform(instance, primitive, vertex);
    out_position = deformed.position;
    out_normal = deformed.normal;
    out_uv = (primitive.flags & THRONG_HAS_UVS) != 0u ? throng_uv(primitive, vertex) : vec2(0.0);
    out_color = throng_base(instance, primitive, vertex);
    gl_Position = throng_view.clip_from_world * vec4(deformed.position, 1.0);
}
