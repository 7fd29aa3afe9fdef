// The skin stage: morphs and skins the vertices of many instances of a character, and writes them
// to device memory. A workgroup takes 64 vertices of one primitive (a chunk) of one instance.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint throng_variant_constant = 0xFFFFFFFFu;  // THRONG_NONE

layout(push_constant) uniform Skin {
    uint first_listed;    // of this character, in the list (throng_visible) of instances to skin
    uint chunks;          // first word of the chunks in the mesh buffer: primitive, first vertex
    uvec2 ring_palettes;  // device address
};

#define THRONG_VARIANT throng_variant_constant
#define THRONG_NO_VIEW
#define THRONG_WRITES_SKINNED
#define THRONG_RING_PALETTES ring_palettes
#include "include/throng.glsl"

void put(const uint at, const vec3 value) {
    throng_skinned[at] = floatBitsToUint(value.x);
    throng_skinned[at + 1u] = floatBitsToUint(value.y);
    throng_skinned[at + 2u] = floatBitsToUint(value.z);
}

void main() {
    uint chunk = chunks + gl_WorkGroupID.x * 2u;
    uint primitive = throng_mesh[chunk];
    uint vertex = throng_mesh[chunk + 1u] + gl_LocalInvocationID.x;
    uint instance = throng_visible[first_listed + gl_WorkGroupID.y];
    bool outside = vertex >= throng_primitives[primitive].vertex_count;
    uint base = throng_instances[instance].skinned;
    if (outside || base == THRONG_NONE) {
        return;
    }
    ThrongVertex result = throng_skin(throng_pose(instance), primitive, vertex);
    uint positions = base + throng_primitives[primitive].skinned_positions;
    put(positions + vertex * 3u, result.position);
    if (!throng_has(primitive, THRONG_HAS_NORMALS)) {
        return;
    }
    uint normals = base + throng_primitives[primitive].skinned_normals;
    put(normals + vertex * 3u, result.normal);
    if (throng_has(primitive, THRONG_HAS_TANGENTS)) {
        uint tangents = base + throng_primitives[primitive].skinned_tangents;
        uint at = tangents + vertex * 4u;
        put(at, result.tangent.xyz);
        throng_skinned[at + 3u] = floatBitsToUint(result.tangent.w);
    }
}
