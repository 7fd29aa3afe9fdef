// Stage ray_starts: one workgroup. The records of people follow each other, character by character:
// it finds where those of each start.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "include/stages.glsl"
#include "include/ray_work.glsl"

layout(local_size_x = CHUNK) in;
shared uint counts[CHUNK];

void main() {
    uint lane = gl_LocalInvocationID.x;
    uint view = ray_work[RAY_VIEW], characters = ray_work[RAY_CHARACTERS];
    uint before = 0u;
    for (uint first = 0u; first < characters; first += CHUNK) {
        uint character = first + lane, count = 0u;
        if (character < characters) {
            uint lists = start_at(view, character) + BUCKETS;
            for (uint bucket = 0u; bucket < BUCKETS; ++bucket) {
                count += work[lists + bucket];
            }
        }
        counts[lane] = count;
        barrier();
        uint start = before;
        for (uint other = 0u; other < CHUNK; ++other) {
            start += other < lane ? counts[other] : 0u;
            before += counts[other];
        }
        if (character < characters) {
            uint at = RAY_HEAD + character * RAY_CHARACTER_WORDS;
            ray_work[at + RAY_START] = start;
            ray_work[at + RAY_TOTAL] = count;
        }
        barrier();
    }
    if (lane == 0u) {
        ray_work[RAY_PEOPLE] = before;
        ray_work[RAY_LEFT_OUT] = before - min(before, ray_work[RAY_COUNT]);
    }
}
