// Stage args: one invocation for each draw and view. It writes the draw's arguments, as
// VkDrawIndexedIndirectCommand has them, and where the draw's list starts.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "include/stages.glsl"

// True if draws have the starts of their lists as first instances.
layout(constant_id = 0) const bool FIRST_INSTANCES = false;

const uint ARGS_WORKGROUP = 64u;
layout(local_size_x = ARGS_WORKGROUP) in;

void main() {
    uint draw = gl_GlobalInvocationID.x, view = gl_WorkGroupID.y;
    if (draw >= draw_count) {
        return;
    }
    uint from = draws_at + draw * DRAW_WORDS;
    uint character = work[from], bucket = work[from + 1u];
    uint to = args_at + (view * draw_count + draw) * ARGS_WORDS;
    // A draw that belongs to no character.
    bool none = character >= character_count || bucket >= BUCKETS;
    work[to] = work[from + 2u];
    work[to + 1u] = none ? 0u : work[start_at(view, character) + BUCKETS + bucket];
    work[to + 2u] = work[from + 3u];
    work[to + 3u] = 0u;
    uint start = none ? 0u : work[start_at(view, character) + bucket];
    work[to + 4u] = FIRST_INSTANCES ? start : 0u;
    work[to + ARGS_START] = start;
}
