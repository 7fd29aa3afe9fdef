// The least for a vertex of a depth pass: see include/plain.glsl. Joints and weights have a stream
// of their own, so that it reads nothing else.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/plain.glsl"

layout(set = 0, binding = 3, std430) readonly buffer Influences { uvec2 influences[]; };

layout(push_constant) uniform View { mat4 clip_from_world; };

void main() {
    PlainInstance instance = instances[gl_InstanceIndex];
    vec3 position = uintBitsToFloat(vertices[gl_VertexIndex].xyz);
    uvec4 words = uvec4(0u, influences[gl_VertexIndex], 0u);
    vec3 model = point(blended(instance.palette, words), position);
    gl_Position = clip_from_world * vec4(point(instance.world_from_model, model), 1.0);
}
