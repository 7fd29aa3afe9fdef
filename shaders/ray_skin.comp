// Stage ray_skin: positions of the vertices that rays meet, in character space, for structures.
// A workgroup takes 64 vertices of one primitive (a chunk) in one pose (a job).
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint throng_variant_constant = 0xFFFFFFFFu;  // THRONG_NONE

layout(push_constant) uniform RaySkin {
    uvec2 chunks;  // device address: primitive, first vertex, vertices, place among all vertices
    uint jobs;     // first word of the jobs
};

#define THRONG_VARIANT throng_variant_constant
#define THRONG_NO_VIEW
#define THRONG_NO_RING
#include "include/throng.glsl"
#include "include/ray_work.glsl"

layout(set = 1, binding = 2, std430) writeonly buffer Positions { float positions[]; };

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer Chunks {
    uvec4 all[];
};

void main() {
    uvec4 chunk = Chunks(chunks).all[gl_WorkGroupID.x];
    uint lane = gl_LocalInvocationID.x;
    if (lane >= chunk.z) {
        return;
    }
    uint job = jobs + gl_WorkGroupID.y * RAY_JOB_WORDS;
    uvec2 palette = uvec2(ray_work[job], ray_work[job + 1u]);
    ThrongPose pose = ThrongPose(palette, ray_work[job + 3u], false);
    vec3 position = throng_skin_position(pose, chunk.x, chunk.y + lane);
    uint at = (ray_work[job + 2u] + chunk.w + lane) * 3u;
    positions[at] = position.x;
    positions[at + 1u] = position.y;
    positions[at + 2u] = position.z;
}
