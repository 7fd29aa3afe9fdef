// The draw stage where only depth is wanted: positions and influences are all that is read.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/throng.glsl"

layout(push_constant) uniform Draw { uint primitive_index; };

void main() {
    ThrongPrimitive primitive = throng_primitives[primitive_index];
    ThrongInstance instance = throng_instances[throng_visible[gl_InstanceIndex]];
    ThrongMatrix skin = throng_skinning_matrix(instance, primitive, uint(gl_VertexIndex));
    vec3 position = throng_deform_position(instance, primitive, skin, uint(gl_VertexIndex));
    gl_Position = throng_view.clip_from_world * vec4(position, 1.0);
}
