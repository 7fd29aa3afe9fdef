// Test only: writes every vertex of one primitive of one instance, deformed, into a buffer.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x = 64) in;

layout(set = 1, binding = 0, std430) writeonly buffer Deformed {
    vec4 deformed[];  // position, normal
};

layout(push_constant) uniform Push {
    uint primitive;
    uint visible_index;
    uint first_vertex;  // in the output
    uint reserved;
    uvec2 ring_palettes;
};

#define THRONG_NO_VIEW
#define THRONG_RING_PALETTES ring_palettes
#include "include/throng.glsl"

void main() {
    uint vertex = gl_GlobalInvocationID.x;
    if (vertex >= throng_primitives[primitive].vertex_count) {
        return;
    }
    uint instance = throng_visible[visible_index];
    ThrongVertex result = throng_deform(instance, primitive, vertex);
    uint at = (first_vertex + vertex) * 2u;
    deformed[at] = vec4(result.position, 0.0);
    deformed[at + 1u] = vec4(result.normal, 0.0);
}
