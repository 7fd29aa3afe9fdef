// Copies this frame's changed instance records from the ring to the resident instance table.
#version 460

layout(local_size_x_id = 0) in;

// A record's words: a ThrongInstance as 6 uvec4, copied as they are.
const uint RECORD_VEC4S = 6u;

layout(set = 0, binding = 0, std430) readonly buffer Changes { uvec4 changes[]; };
layout(set = 0, binding = 1, std430) readonly buffer Indices { uint indices[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Table { uvec4 table[]; };

layout(push_constant) uniform Push { uint change_count; };

// One invocation copies one uvec4, so that neighbours read neighbouring memory.
void main() {
    uint at = gl_GlobalInvocationID.x;
    uint change = at / RECORD_VEC4S;
    if (change >= change_count) {
        return;
    }
    table[indices[change] * RECORD_VEC4S + at % RECORD_VEC4S] = changes[at];
}
