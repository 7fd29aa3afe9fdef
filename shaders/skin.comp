// The skin stage: the vertices of many instances of a character, morphed and skinned, into device memory.
// A workgroup takes 64 vertices of one primitive (a chunk) of one instance.
#version 460
#extension GL_GOOGLE_include_directive : require
#define THRONG_NO_VIEW
#define THRONG_WRITES_SKINNED
#include "include/throng.glsl"

layout(local_size_x_id = 0) in;

layout(push_constant) uniform Skin {
    uint first_listed;  // of this character, in the list (throng_visible) of instances to skin
    uint chunks;        // first word of the chunks in the geometry: primitive, first vertex
};

void put(uint at, vec3 value) {
    throng_skinned[at] = floatBitsToUint(value.x);
    throng_skinned[at + 1u] = floatBitsToUint(value.y);
    throng_skinned[at + 2u] = floatBitsToUint(value.z);
}

void main() {
    uint chunk = chunks + gl_WorkGroupID.x * 2u;
    ThrongPrimitive primitive = throng_primitives[throng_geometry[chunk]];
    uint vertex = throng_geometry[chunk + 1u] + gl_LocalInvocationID.x;
    ThrongInstance instance = throng_instances[throng_visible[first_listed + gl_WorkGroupID.y]];
    if (vertex >= primitive.vertex_count || instance.skinned == THRONG_NONE) {
        return;
    }
    ThrongVertex result = throng_skin(throng_pose(instance), primitive, vertex, true);
    put(instance.skinned + primitive.skinned_positions + vertex * 3u, result.position);
    if ((primitive.flags & THRONG_HAS_NORMALS) == 0u) {
        return;
    }
    put(instance.skinned + primitive.skinned_normals + vertex * 3u, result.normal);
    if ((primitive.flags & THRONG_HAS_TANGENTS) != 0u) {
        uint at = instance.skinned + primitive.skinned_tangents + vertex * 4u;
        put(at, result.tangent.xyz);
        throng_skinned[at + 3u] = floatBitsToUint(result.tangent.w);
    }
}
