// Stage cull: one workgroup for each chunk of members. It chooses a bucket for each member and view,
// and counts the members of each bucket.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x = 64) in;

#include "include/cull.glsl"

// A bit for each lane, by bucket, and by what becomes of the others.
shared uint lanes[BUCKETS + 2u][2];
shared uint shared_power;

// The lowest power of the factor with which a view keeps to its triangles, or the highest. Totals
// must not grow with the power.
uint power_of(const uint view, const uint most) {
    uint low = 0u, high = 0u;
    for (uint power = 0u; power <= FACTORS; ++power) {
        uint at = triangles_at + (view * (FACTORS + 1u) + power) * 2u;
        uint carry;
        low = uaddCarry(low, work[at], carry);
        high += work[at + 1u] + carry;
        if (high == 0u && low <= most) {
            return power;
        }
    }
    return FACTORS;
}

// The bucket of an instance that a view shows at a level of detail, which is remembered.
uint choose(const uint level, const uint number, const Actor actor, inout uint levels) {
    if (number < REMEMBERED) {
        uint shift = number * LEVEL_BITS;
        levels = levels & ~((LEVELS - 1u) << shift) | level << shift;
    }
    return (actor.flags & ACTOR_FLIPPED) * 16u + level * 2u
           + ((actor.flags & ACTOR_HIDES) != 0u ? 1u : 0u);
}

void main() {
    uint chunk = gl_WorkGroupID.x, lane = gl_LocalInvocationID.x;
    uint own = work[chunks_at + chunk * 2u];
    uint character = characters_at + own * CHARACTER_WORDS;
    bool used = lane < work[chunks_at + chunk * 2u + 1u];
    uint member = chunk * CHUNK + lane;
    uint instance = used ? work[members_at + member] : 0u;
    Actor actor = actor_of(instance);
    uint last = used ? table_words[levels_at + instance] : 0u;
    uint now = last, choices = 0u;
    for (uint number = 0u; number < view_count; ++number) {
        View view = view_of(number);
        if (lane < BUCKETS + 2u) {
            lanes[lane][0] = 0u;
            lanes[lane][1] = 0u;
        }
        bool limited = (view.flags & VIEW_BUDGET) != 0u;
        if (lane == 0u && limited) {
            shared_power = power_of(number, view.most);
        }
        barrier();
        uint key = NOT_SHOWN;
        if (used && allowed(view, actor, instance)) {
            float squared = distance_squared(view, actor);
            if (EYES) {
                float factor = limited ? inverse_factor(shared_power) : 1.0;
                uint before = last_level(last, number);
                key = found_by_eyes(number, view, factor, actor, character, before);
                if (key < LEVELS) {
                    key = choose(key, number, actor, now);
                }
            } else if (outside(number, actor)) {
                key = OUTSIDE;
            } else if (too_small(view, actor, squared)) {
                key = TOO_SMALL;
            } else {
                precise vec2 per_error = view.per_error;
                if (limited) {
                    per_error = view.per_error * inverse_factor(shared_power);
                }
                uint before = last_level(last, number);
                uint level = level_of(view, per_error, actor, squared, character, before);
                key = choose(level, number, actor, now);
            }
            atomicOr(lanes[key][lane >> 5], 1u << (lane & 31u));
        }
        barrier();
        if (lane < BUCKETS + 2u) {
            uint count = uint(bitCount(lanes[lane][0]) + bitCount(lanes[lane][1]));
            if (lane < BUCKETS) {
                work[count_at(number, chunk) + lane] = count;
            } else if (count > 0u) {
                atomicAdd(work[counters_at + number * COUNTER_WORDS + lane - BUCKETS], count);
            }
        }
        if (lane == 0u && chunk == 0u && limited) {
            work[counters_at + number * COUNTER_WORDS + COUNT_FACTOR] = shared_power;
        }
        choices |= min(key, NOT_SHOWN) << (8u * (number & 3u));
        if ((number & 3u) == 3u || number + 1u == view_count) {
            work[choice_at(number, member)] = choices;
            choices = 0u;
        }
        barrier();
    }
    if (used && now != last) {
        table_words[levels_at + instance] = now;
    }
}
