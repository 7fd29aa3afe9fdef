// Stage compact: one workgroup for each chunk of members. It writes the lists, in the order of the
// members within each bucket.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x = 64) in;

#include "include/stages.glsl"

// A bit for each lane, by bucket.
shared uint lanes[BUCKETS][2];

void main() {
    uint chunk = gl_WorkGroupID.x, lane = gl_LocalInvocationID.x;
    bool used = lane < work[chunks_at + chunk * 2u + 1u];
    uint member = chunk * CHUNK + lane;
    uint instance = used ? work[members_at + member] : 0u;
    for (uint view = 0u; view < view_count; ++view) {
        if (lane < BUCKETS) {
            lanes[lane][0] = 0u;
            lanes[lane][1] = 0u;
        }
        barrier();
        uint bucket = work[choice_at(view, member)] >> (8u * (view & 3u)) & 255u;
        bool shown = used && bucket < BUCKETS;
        if (shown) {
            atomicOr(lanes[bucket][lane >> 5], 1u << (lane & 31u));
        }
        barrier();
        if (shown) {
            // The members before this one in its bucket and chunk.
            uint before = lanes[bucket][lane >> 5] & ((1u << (lane & 31u)) - 1u);
            int rank = bitCount(before) + (lane < 32u ? 0 : bitCount(lanes[bucket][0]));
            work[work[count_at(view, chunk) + bucket] + uint(rank)] = instance;
        }
        barrier();
    }
}
