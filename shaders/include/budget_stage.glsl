// The first part of stage cull for views with a limit of triangles: how many triangles they would
// show for each factor by which they may allow more error.

#include "cull.glsl"
#ifdef BEHIND
#include "behind.glsl"
#endif

layout(local_size_x = CHUNK) in;

void main() {
    uint chunk = gl_WorkGroupID.x, lane = gl_LocalInvocationID.x;
    uint character = characters_at + work[chunks_at + chunk * CHUNK_WORDS] * CHARACTER_WORDS;
    if (lane >= work[chunks_at + chunk * CHUNK_WORDS + 1u]) {
        return;
    }
    uint instance = work[members_at + chunk * CHUNK + lane];
    Actor actor = actor_of(instance);
    uint last = table_words[levels_at + instance];
    for (uint number = 0u; number < view_count; ++number) {
        View view = view_of(number);
        if ((view.flags & VIEW_BUDGET) == 0u || !allowed(view, actor, instance)) {
            continue;
        }
        float squared = distance_squared(view, actor);
        if (!EYES && (outside(number, actor) || too_small(view, actor, squared))) {
            continue;
        }
#ifdef BEHIND
        bool was_hidden = (view.flags & VIEW_LATE) != 0u && was(2u, number, chunk, lane);
        if (was_hidden || hidden(number, view, actor, instance, character)) {
            continue;
        }
#endif
        uint before = 0u;
        for (uint power = 0u; power <= FACTORS; ++power) {
            precise vec2 per_error = view.per_error * inverse_factor(power);
            uint level;
            if (EYES) {
                level = found_by_eyes(number, view, inverse_factor(power), actor, character,
                                      last_level(last, number));
                if (level >= MAX_LEVELS) {
                    break;
                }
            } else {
                level = level_of(view, per_error, actor, squared, character,
                                 last_level(last, number));
            }
            uint triangles = work[character + CHARACTER_TRIANGLES + level];
            if (triangles != before) {
                uint borrow;
                uint low = usubBorrow(triangles, before, borrow);
                uint at = triangles_at + (number * (FACTORS + 1u) + power) * 2u;
                add_64(at, low, borrow != 0u ? 0xFFFFFFFFu : 0u);
            }
            before = triangles;
        }
    }
}
