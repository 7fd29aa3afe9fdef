// Stage reveal: one workgroup for each chunk of members. It tests the instances that late views
// show or hold back against depth, and turns the choices of the stage cull into those of the
// instances that are revealed. It notes for the next frame which instances the views see.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_GOOGLE_include_directive : require

#include "include/cull.glsl"

layout(set = 0, binding = 1, std430) readonly buffer Tests { vec4 test_rows[]; };
#define TEST_ROW(at) test_rows[at]
#define REVEAL
#include "include/behind.glsl"

layout(local_size_x = CHUNK) in;

// A bit for each lane: by bucket, of members that are seen, that are hidden, and that were held
// back and stay hidden.
const uint SEEN = BUCKETS, COVERED = BUCKETS + 1u, KEPT = BUCKETS + 2u;
shared uint lanes[BUCKETS + 3u][2];

void set_lane(const uint kind, const uint lane) {
    atomicOr(lanes[kind][lane >> 5], 1u << (lane & 31u));
}

uint members_of(const uint kind) {
    return uint(bitCount(lanes[kind][0]) + bitCount(lanes[kind][1]));
}

void main() {
    uint chunk = gl_WorkGroupID.x, lane = gl_LocalInvocationID.x;
    bool used = lane < work[chunks_at + chunk * CHUNK_WORDS + 1u];
    uint member = chunk * CHUNK + lane;
    uint instance = used ? work[members_at + member] : 0u;
    uint character = characters_at + work[chunks_at + chunk * CHUNK_WORDS] * CHARACTER_WORDS;
    Actor actor = actor_of(instance);
    uint levels = table_words[levels_at + instance];
    // The choice of the last view of the stage cull says which members need own poses.
    uint last = ALL_VIEWS - 1u;
    uint own = work[choice_at(last, member)] >> (8u * (last & 3u)) & (OWN_POSE | OWN_IF_SEEN);
    uint before = 0u, choices = 0u;
    for (uint number = 0u; number < view_count; ++number) {
        View view = view_of(number);
        if ((number & 3u) == 0u) {
            before = work[choice_at(number, member)];
        }
        uint choice = before >> (8u * (number & 3u)) & CHOSEN, key = NOT_SHOWN;
        bool late = (view.flags & VIEW_LATE) != 0u;
        if (lane < BUCKETS + 3u) {
            lanes[lane][0] = 0u;
            lanes[lane][1] = 0u;
        }
        barrier();
        if (used && late && (choice < BUCKETS || choice == HIDDEN || choice == HELD)) {
            bool covered = choice == HIDDEN || hidden(number, view, actor, instance, character);
            set_lane(covered ? COVERED : SEEN, lane);
            if (choice == HELD && covered) {
                key = HIDDEN;
                set_lane(KEPT, lane);
            } else if (choice == HELD) {
                key = (actor.flags & ACTOR_FLIPPED) * 16u + last_level(levels, number) * 2u
                      + ((actor.flags & ACTOR_VARIES) != 0u ? 1u : 0u);
                set_lane(key, lane);
            }
        }
        barrier();
        if (lane < BUCKETS) {
            uint count = members_of(lane);
            work[count_at(number, chunk) + lane] = count;
            if (count > 0u) {
                atomicAdd(work[counters_at + number * COUNTER_WORDS + COUNT_LATE], count);
            }
        }
        if (lane == BUCKETS && late) {
            uint to = seen_at(number, chunk), kept = members_of(KEPT);
            for (uint i = 0u; i < 2u; ++i) {
                work[to + i] = lanes[SEEN][i];
                work[to + 2u + i] = lanes[COVERED][i];
            }
            if (kept > 0u) {
                atomicAdd(work[counters_at + number * COUNTER_WORDS + COUNT_HIDDEN], kept);
            }
        }
        key |= number + 1u == view_count ? own : 0u;
        choices |= key << (8u * (number & 3u));
        if ((number & 3u) == 3u || number + 1u == view_count) {
            work[choice_at(number, member)] = choices;
            choices = 0u;
        }
        barrier();
    }
}
