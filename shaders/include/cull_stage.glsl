// Stage cull: one workgroup for each chunk of members. It chooses a bucket for each member and
// view, and counts the members of each bucket.

#include "cull.glsl"
#ifdef BEHIND
#include "behind.glsl"
#define LEFT_OUT 3u
#define KINDS (BUCKETS + 4u)
#define COUNTER(lane) ((lane) == HIDDEN ? COUNT_HIDDEN : (lane) - BUCKETS)
#else
#define LEFT_OUT 2u
#define KINDS (BUCKETS + LEFT_OUT)
#define COUNTER(lane) (lane) - BUCKETS
#endif

layout(local_size_x = CHUNK) in;

// A bit for each lane, by bucket, and by what becomes of the others.
shared uint lanes[KINDS][2];
shared uint shared_power;
// A bit for each lane whose member needs a palette of its own.
shared uint own_poses[2];

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
        levels = levels & ~((MAX_LEVELS - 1u) << shift) | level << shift;
    }
    return (actor.flags & ACTOR_FLIPPED) * 16u + level * 2u
           + ((actor.flags & ACTOR_VARIES) != 0u ? 1u : 0u);
}

void main() {
    uint chunk = gl_WorkGroupID.x, lane = gl_LocalInvocationID.x;
    uint own = work[chunks_at + chunk * CHUNK_WORDS];
    uint character = characters_at + own * CHARACTER_WORDS;
    bool used = lane < work[chunks_at + chunk * CHUNK_WORDS + 1u];
    uint member = chunk * CHUNK + lane;
    uint instance = used ? work[members_at + member] : 0u;
    Actor actor = actor_of(instance);
    uint last = used ? table_words[levels_at + instance] : 0u;
    uint now = last, choices = 0u;
    bool posed = used && (actor.flags & ACTOR_POSED) != 0u;
    // Without views, all visible members are posed.
    bool own_pose = posed && view_count == 0u && actor.mask != 0u;
#ifdef BEHIND
    bool own_if_seen = false;
#endif
    if (lane < 2u) {
        own_poses[lane] = 0u;
    }
    for (uint number = 0u; number < view_count; ++number) {
        View view = view_of(number);
        if (lane < BUCKETS + LEFT_OUT) {
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
#ifdef BEHIND
            bool own_before = own_pose;
#endif
            float squared = distance_squared(view, actor);
            if (EYES) {
                float factor = limited ? inverse_factor(shared_power) : 1.0;
                uint before = last_level(last, number);
                key = found_by_eyes(number, view, factor, actor, character, before);
                if (key < MAX_LEVELS) {
                    key = choose(key, number, actor, now);
                    own_pose = own_pose || (posed && !may_share_by_eyes(view, actor));
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
                own_pose = own_pose || (posed && !may_share(view, actor, squared));
            }
#ifdef BEHIND
            own_if_seen = own_if_seen || own_pose;
            // The view keeps the level, but needs no pose.
            if (key < BUCKETS && hidden(number, view, actor, instance, character)) {
                key = HIDDEN;
                own_pose = own_before;
            } else if (key < BUCKETS && (view.flags & VIEW_LATE) != 0u
                       && !was(0u, number, chunk, lane)) {
                key = HELD;
            }
#endif
            atomicOr(lanes[key][lane >> 5], 1u << (lane & 31u));
        }
        barrier();
        if (lane < BUCKETS + LEFT_OUT) {
            uint count = uint(bitCount(lanes[lane][0]) + bitCount(lanes[lane][1]));
            if (lane < BUCKETS) {
                work[count_at(number, chunk) + lane] = count;
            } else if (count > 0u) {
                atomicAdd(work[counters_at + number * COUNTER_WORDS + COUNTER(lane)], count);
            }
        }
        if (lane == 0u && chunk == 0u && limited) {
            work[counters_at + number * COUNTER_WORDS + COUNT_FACTOR] = shared_power;
        }
        key |= own_pose && number + 1u == view_count ? OWN_POSE : 0u;
#ifdef BEHIND
        key |= own_if_seen && number + 1u == view_count ? OWN_IF_SEEN : 0u;
#endif
        choices |= key << (8u * (number & 3u));
        if ((number & 3u) == 3u || number + 1u == view_count) {
            work[choice_at(number, member)] = choices;
            choices = 0u;
        }
        barrier();
    }
    if (used && now != last) {
        table_words[levels_at + instance] = now;
    }
    barrier();
    if (own_pose) {
        atomicOr(own_poses[lane >> 5], 1u << (lane & 31u));
    }
    barrier();
    if (lane == 0u) {
        work[posed_at(chunk)] = uint(bitCount(own_poses[0]) + bitCount(own_poses[1]));
    }
}
