// Stage compact: one workgroup for each chunk of members. It writes the lists, in the order of the
// members within each bucket. It gives each member that some view shows its palette: a shared pose
// if all views allow it, or else rows of the ring. For those it writes jobs of the stage animate,
// in any order. Without views, each visible member is shown.

#include "stages.glsl"
#include "shown.glsl"
#include "playback.glsl"
#ifdef HOLDS
#include "hidden.glsl"
#endif

#ifdef HOLDS
// True for the instances that a reveal adds. Those that are shown already keep stamp and pose.
layout(constant_id = 0) const bool LATE = false;
// True if a view has a history, which follows instances that are hidden.
layout(constant_id = 1) const bool FOLLOWS = false;
#endif

layout(local_size_x = CHUNK) in;

const uint INSTANCE_WORDS = 32u, INSTANCE_STAMP = 23u, INSTANCE_PALETTE = 28u;
const uint INSTANCE_MORPHS = 30u;
// Workgroups in a row of the dispatch of animate.
const uint ROW_GROUPS = 32768u;

// A bit for each lane, by bucket.
shared uint lanes[BUCKETS][2];
shared uint first_job;
shared uint first_skinned;
shared uint shared_count;
shared uint without_memory;

const uint NO_ADDRESS = 0xFFFFFFFFu;

// Adds the jobs of a chunk to those of its character. Returns the first one.
uint add_jobs(const uint character, const uint count) {
    uint at = poses_at + character * POSE_WORDS;
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

// Adds instances of a chunk to those that the stage skin deforms. Returns the first one.
uint add_skinned(const uint number, const uint count) {
    uint at = skins_at(number), character = characters_at + number * CHARACTER_WORDS;
    uint first = atomicAdd(work[at], count);
    for (uint i = 0u; i < SKINS; ++i) {
        uint groups = work[character + CHARACTER_SKINS + i];
        if (groups > 0u) {
            work[at + 1u + i * 3u] = groups;
            atomicMax(work[at + 2u + i * 3u], first + count);
            work[at + 3u + i * 3u] = 1u;
        }
    }
    atomicAdd(work[counters_at - TOTAL_WORDS + TOTAL_SKINNED], count);
    return first;
}

// Writes the palette of an instance to its record: an address, or bytes in the ring.
void set_palette(const uint instance, const uvec2 palette) {
    uint at = instance * INSTANCE_WORDS + INSTANCE_PALETTE;
    table_words[at] = palette.x;
    table_words[at + 1u] = palette.y;
}

// Writes the job of an instance.
void pose(const uint job, const uint instance, const uint plays, const uint row) {
    work[job] = plays >> PLAY_COUNT_BITS;
    work[job + 1u] = plays & ((1u << PLAY_COUNT_BITS) - 1u);
    work[job + 2u] = row;
    work[job + 3u] = table_words[instance * INSTANCE_WORDS + INSTANCE_MORPHS];
    set_palette(instance, uvec2(row << 4, NO_ADDRESS));
}

#include "shared_pose.glsl"

#ifdef HOLDS
#include "follow.glsl"
#endif

void main() {
    uint chunk = gl_WorkGroupID.x, lane = gl_LocalInvocationID.x;
    bool used = lane < work[chunks_at + chunk * CHUNK_WORDS + 1u];
    uint member = chunk * CHUNK + lane;
    uint instance = used ? work[members_at + member] : 0u;
    bool any = false, own = view_count == 0u;
#ifdef HOLDS
    bool hidden = false, held = false, own_if_seen = false;
#endif
    for (uint view = 0u; view < view_count; ++view) {
        if (lane < BUCKETS) {
            lanes[lane][0] = 0u;
            lanes[lane][1] = 0u;
        }
        barrier();
        uint choice = work[choice_at(view, member)] >> (8u * (view & 3u));
        uint bucket = choice & CHOSEN;
        own = (choice & OWN_POSE) != 0u;
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
#ifdef HOLDS
        hidden = hidden || bucket == HIDDEN;
        held = held || bucket == HELD;
        own_if_seen = (choice & OWN_IF_SEEN) != 0u;
#endif
        barrier();
    }
    vec4 actor = table_rows[actors_at + instance * ACTOR_ROWS + 1u];
    uint mask = floatBitsToUint(actor.y), flags = floatBitsToUint(actor.z);
    any = any || (view_count == 0u && mask != 0u);
    any = any && used;
#ifdef HOLDS
    uint noted = table_words[shown_at + instance * SHOWN_WORDS];
    bool known = LATE && (noted == frame || noted == ~frame);
    any = any && !known;
    bool passes = FOLLOWS && used && hidden && !held && !any && !known;
#endif
    if (any) {
        show(instance);
    }
    bool posed = any && (flags & ACTOR_POSED) != 0u;
    if (lane < 2u) {
        lanes[0][lane] = 0u;
    }
    if (lane == 0u) {
        shared_count = 0u;
        without_memory = 0u;
    }
    barrier();
    if (posed && own) {
        atomicOr(lanes[0][lane >> 5], 1u << (lane & 31u));
    }
    barrier();
    uint low = lanes[0][0], high = lanes[0][1];
    uint number = work[chunks_at + chunk * CHUNK_WORDS];
    uint character = characters_at + number * CHARACTER_WORDS;
    uint rows = work[character + CHARACTER_PALETTE_ROWS];
    uint count = uint(bitCount(low) + bitCount(high)), fitting = 0u, first_row = 0u;
    if (count > 0u) {
        first_row = work[posed_at(chunk) + 1u];
#ifdef HOLDS
        first_row += LATE ? work[posed_at(chunk)] * rows : 0u;
#endif
        uint left = rows_end - min(first_row, rows_end);
        fitting = rows > 0u ? min(count, left / rows) : count;
        if (lane == 0u && fitting > 0u) {
            first_job = add_jobs(number, fitting);
        }
    }
#ifdef HOLDS
    if (lane == 0u && !LATE) {
        // The rows of the others are for late instances.
        work[posed_at(chunk)] = fitting;
    }
#endif
    barrier();
    if (posed) {
        uint plays = floatBitsToUint(actor.w);
        uint before = (lane < 32u ? low : high) & ((1u << (lane & 31u)) - 1u);
        uint rank = uint(bitCount(before) + (lane < 32u ? 0 : bitCount(low)));
        if (own && rank < fitting) {
            uint first = work[character] * CHUNK;
            uint job = jobs_at + (first + first_job + rank) * JOB_WORDS;
            pose(job, instance, plays, first_row + rank * rows);
        } else {
            set_palette(instance, shared_pose(character, plays));
            if (own) {
                atomicAdd(without_memory, 1u);
            } else {
                atomicAdd(shared_count, 1u);
            }
        }
    }
#ifdef HOLDS
    if (FOLLOWS && any && noted == ~last_frame) {
        stand_in(instance);
    }
    if (passes) {
        pass_over(instance, character, flags, floatBitsToUint(actor.w), own_if_seen);
    }
#endif
    // The bits of the lanes whose members the stage skin deforms.
    bool skins = posed && (flags & ACTOR_SKINS) != 0u;
    if (lane < 2u) {
        lanes[1][lane] = 0u;
    }
    barrier();
    if (skins) {
        atomicOr(lanes[1][lane >> 5], 1u << (lane & 31u));
    }
    barrier();
    low = lanes[1][0];
    high = lanes[1][1];
    if (lane == 0u && (low | high) != 0u) {
        first_skinned = add_skinned(number, uint(bitCount(low) + bitCount(high)));
    }
    barrier();
    if (skins) {
        uint before = (lane < 32u ? low : high) & ((1u << (lane & 31u)) - 1u);
        uint rank = uint(bitCount(before) + (lane < 32u ? 0 : bitCount(low)));
        work[skinned_at(work[character] * CHUNK + first_skinned + rank)] = instance;
    }
    if (lane == 0u && shared_count + without_memory > 0u) {
        uint totals = counters_at - TOTAL_WORDS;
        atomicAdd(work[totals + TOTAL_SHARED], shared_count);
        atomicAdd(work[totals + TOTAL_WITHOUT_MEMORY], without_memory);
    }
}
