// The least for a vertex of a pass of motion vectors: see include/plain.glsl. The last frame has
// palettes and instances of its own.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/plain.glsl"

layout(set = 0, binding = 3, std430) readonly buffer Past { PlainMatrix past_palettes[]; };
layout(set = 0, binding = 4, std430) readonly buffer PastInstances {
    PlainInstance past_instances[];
};
layout(set = 0, binding = 5, std140) uniform View {
    mat4 clip_from_world;
    mat4 steady_clip_from_world;
    mat4 previous_clip_from_world;
};

layout(location = 6) out vec4 out_now;
layout(location = 7) out vec4 out_then;

void main() {
    PlainInstance now = instances[gl_InstanceIndex], then = past_instances[gl_InstanceIndex];
    uvec4 a = vertices[2 * gl_VertexIndex], b = vertices[2 * gl_VertexIndex + 1];
    vec3 position = uintBitsToFloat(a.xyz);
    vec3 world = point(now.world_from_model, point(blended(now.palette, b), position));
    uvec4 joints = joints_of(b);
    vec4 weights = unpackUnorm4x8(b.z);
    vec4 x = vec4(0.0), y = vec4(0.0), z = vec4(0.0);
    for (int at = 0; at < 4; ++at) {
        PlainMatrix entry = past_palettes[then.palette + joints[at]];
        x += weights[at] * entry.rows[0];
        y += weights[at] * entry.rows[1];
        z += weights[at] * entry.rows[2];
    }
    vec3 past = point(then.world_from_model, point(vec4[3](x, y, z), position));
    out_now = steady_clip_from_world * vec4(world, 1.0);
    out_then = previous_clip_from_world * vec4(past, 1.0);
    gl_Position = clip_from_world * vec4(world, 1.0);
}
