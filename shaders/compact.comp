// Stage compact: one workgroup for each chunk of members. It writes the lists, in the order of the
// members within each bucket, and the jobs of the stage animate: one for each member that some view
// shows, in any order. Without views, that is each visible one.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x = 64) in;

#include "include/stages.glsl"
#include "include/shown.glsl"

const uint ACTOR_ROWS = 3u;
const uint INSTANCE_WORDS = 32u, INSTANCE_STAMP = 23u, INSTANCE_PALETTE = 28u;
const uint INSTANCE_MORPHS = 30u;
// Workgroups in a row of the dispatch of animate.
const uint ROW_GROUPS = 32768u;

// A bit for each lane, by bucket.
shared uint lanes[BUCKETS][2];
shared uint first_job;

// Adds the jobs of a chunk to those of its character. Returns the first one.
uint add_jobs(const uint character, const uint count) {
    uint at = poses_at + character * 4u;
    uint first = atomicAdd(work[at + 3u], count);
    uint all = first + count;
    atomicMax(work[at], min(all, ROW_GROUPS));
    atomicMax(work[at + 1u], (all + ROW_GROUPS - 1u) / ROW_GROUPS);
    atomicMax(work[at + 2u], 1u);
    return first;
}

// Gives an instance that is shown another stamp if the last frame did not show it.
void show(const uint instance) {
    uint at = shown_at + instance * SHOWN_WORDS;
    if (table_words[at] != last_frame) {
        table_words[at + 1u] += 1u;
        table_words[instance * INSTANCE_WORDS + INSTANCE_STAMP] += 1u;
    }
    table_words[at] = frame;
}

// Writes the job of an instance.
void pose(const uint job, const uint instance, const uint plays) {
    uint at = instance * INSTANCE_WORDS;
    work[job] = plays >> PLAY_COUNT_BITS;
    work[job + 1u] = plays & ((1u << PLAY_COUNT_BITS) - 1u);
    work[job + 2u] = table_words[at + INSTANCE_PALETTE] >> 4;
    work[job + 3u] = table_words[at + INSTANCE_MORPHS];
}

void main() {
    uint chunk = gl_WorkGroupID.x, lane = gl_LocalInvocationID.x;
    bool used = lane < work[chunks_at + chunk * 2u + 1u];
    uint member = chunk * CHUNK + lane;
    uint instance = used ? work[members_at + member] : 0u;
    bool any = false;
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
        any = any || shown;
        barrier();
    }
    vec4 actor = table_rows[actors_at + instance * ACTOR_ROWS + 1u];
    uint mask = floatBitsToUint(actor.y), flags = floatBitsToUint(actor.z);
    any = any || (view_count == 0u && mask != 0u);
    any = any && used;
    if (any) {
        show(instance);
    }
    bool posed = any && (flags & ACTOR_POSED) != 0u;
    if (lane < 2u) {
        lanes[0][lane] = 0u;
    }
    barrier();
    if (posed) {
        atomicOr(lanes[0][lane >> 5], 1u << (lane & 31u));
    }
    barrier();
    uint low = lanes[0][0], high = lanes[0][1];
    uint character = work[chunks_at + chunk * 2u];
    if (lane == 0u && (low | high) != 0u) {
        first_job = add_jobs(character, uint(bitCount(low) + bitCount(high)));
    }
    barrier();
    if (posed) {
        uint before = (lane < 32u ? low : high) & ((1u << (lane & 31u)) - 1u);
        uint rank = uint(bitCount(before) + (lane < 32u ? 0 : bitCount(low)));
        uint first = work[characters_at + character * CHARACTER_WORDS] * CHUNK;
        pose(jobs_at + (first + first_job + rank) * 4u, instance, floatBitsToUint(actor.w));
    }
}
