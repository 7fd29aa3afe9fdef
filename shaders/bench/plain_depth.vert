// The least for a vertex of a depth pass: see include/plain.glsl.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/plain.glsl"

layout(push_constant) uniform View { mat4 clip_from_world; };

void main() {
    PlainInstance instance = instances[gl_InstanceIndex];
    uvec4 a = vertices[2 * gl_VertexIndex], b = vertices[2 * gl_VertexIndex + 1];
    vec3 model = point(blended(instance.palette, b), uintBitsToFloat(a.xyz));
    gl_Position = clip_from_world * vec4(point(instance.world_from_model, model), 1.0);
}
