// The least for a deformed vertex with normal and tangent: see include/plain.glsl.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/plain.glsl"

layout(local_size_x = 64) in;

layout(set = 0, binding = 3, std430) writeonly buffer Deformed { float deformed[]; };

layout(push_constant) uniform Skin {
    uint vertex_count;
    uint first_word;  // of the first instance
};

void main() {
    uint vertex = gl_GlobalInvocationID.x;
    if (vertex >= vertex_count) {
        return;
    }
    PlainInstance instance = instances[gl_WorkGroupID.y];
    uvec4 a = vertices[2 * vertex], b = vertices[2 * vertex + 1];
    vec4 skin[3] = blended(instance.palette, b);
    vec3 position = point(skin, uintBitsToFloat(a.xyz));
    vec3 normal = normalize(turn(skin, octahedral(a.w)));
    vec3 tangent = normalize(turn(skin, octahedral(b.x)));
    uint at = first_word + (gl_WorkGroupID.y * vertex_count + vertex) * 10u;
    for (int i = 0; i < 3; ++i) {
        deformed[at + i] = position[i];
        deformed[at + 3u + i] = normal[i];
        deformed[at + 6u + i] = tangent[i];
    }
    deformed[at + 9u] = 1.0;
}
