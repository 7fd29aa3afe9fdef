// Stage scan: one workgroup for each character and view. It finds the start of each bucket in the
// character's list, and the place of each chunk in each bucket, in the order of the members.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "include/stages.glsl"

// Each bucket has a lane in each segment of the chunks.
const uint SEGMENTS = 4u;
layout(local_size_x = SEGMENTS * BUCKETS) in;
shared uint sums[SEGMENTS][BUCKETS];
shared uint totals[BUCKETS];

void main() {
    uint character = gl_WorkGroupID.x, view = gl_WorkGroupID.y;
    uint bucket = gl_LocalInvocationID.x % BUCKETS, segment = gl_LocalInvocationID.x / BUCKETS;
    uint at = characters_at + character * CHARACTER_WORDS;
    uint first = work[at], count = work[at + 1u];
    uint each = (count + SEGMENTS - 1u) / SEGMENTS;
    uint begin = min(segment * each, count), end = min(begin + each, count);
    uint sum = 0u;
    for (uint chunk = begin; chunk < end; ++chunk) {
        sum += work[count_at(view, first + chunk) + bucket];
    }
    sums[segment][bucket] = sum;
    barrier();
    uint place = 0u, total = 0u;
    for (uint i = 0u; i < SEGMENTS; ++i) {
        total += sums[i][bucket];
        place += i < segment ? sums[i][bucket] : 0u;
    }
    if (segment == 0u) {
        totals[bucket] = total;
    }
    barrier();
    uint start = 0u;
    for (uint i = 0u; i < bucket; ++i) {
        start += totals[i];
    }
    uint list = visible_at + (view * chunk_count + first) * CHUNK;
    if (segment == 0u) {
        uint to = start_at(view, character);
        work[to + bucket] = list + start;
        work[to + BUCKETS + bucket] = total;
        if (total > 0u) {
            uint level = bucket >> 1 & (MAX_LEVELS - 1u);
            uint counters = counters_at + view * COUNTER_WORDS;
            atomicAdd(work[counters + COUNT_LEVELS + level], total);
            uint low, high;
            umulExtended(total, work[at + CHARACTER_TRIANGLES + level], high, low);
            add_64(counters + COUNT_TRIANGLES, low, high);
        }
    }
    place += list + start;
    for (uint chunk = begin; chunk < end; ++chunk) {
        uint own = count_at(view, first + chunk) + bucket;
        uint members = work[own];
        work[own] = place;
        place += members;
    }
}
