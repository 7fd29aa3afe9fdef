// Stage cull: whether a view shows an instance, and at which level of detail. Additions,
// multiplications and comparisons alone, in the order of src/crowd/visibility/cull.rs.

#include "stages.glsl"

// True if views may have several eyes.
layout(constant_id = 0) const bool EYES = false;

struct Actor {
    vec3 center;
    float radius;
    float scale;
    uint mask;
    uint flags;
};

struct View {
    vec3 eye;
    float least_size;
    vec2 per_error;  // for levels up to the last one, and for coarser ones
    uint mask;
    uint flags;
    uint most;       // triangles
    uint fixed_level;  // plus 1, or 0
    uint list;         // plus 1, or 0
    float per_pose;    // as per_error, for the error of shared poses, or 0 if there are none
    uint more;         // further eyes: the first one's record, and their number in the low byte
};

Actor actor_of(const uint instance) {
    uint at = actors_at + instance * 3u;
    vec4 sphere = table_rows[at], rest = table_rows[at + 1u];
    return Actor(sphere.xyz, sphere.w, rest.x, floatBitsToUint(rest.y), floatBitsToUint(rest.z));
}

View view_of(const uint view) {
    uint at = view * VIEW_ROWS + 9u;
    vec4 eye = view_rows[at], errors = view_rows[at + 1u];
    uvec4 words = floatBitsToUint(view_rows[at + 2u]);
    return View(eye.xyz, eye.w, errors.xy, words.x, words.y, floatBitsToUint(errors.z),
                floatBitsToUint(errors.w), words.y >> 16, uintBitsToFloat(words.z), words.w);
}

// True if the view shows the instance wherever it is inside.
bool allowed(const View view, const Actor actor, const uint instance) {
    if ((actor.mask & view.mask) == 0u) {
        return false;
    }
    uint at = listed_at + (view.list - 1u) * listed_words + (instance >> 5);
    return view.list == 0u || (listed[at] >> (instance & 31u) & 1u) != 0u;
}

bool outside(const uint view, const Actor actor) {
    vec3 c = actor.center;
    precise float away = (abs(c.x) + abs(c.y)) + abs(c.z);
    bool out_of = false;
    for (uint plane = 0u; plane < 6u; ++plane) {
        vec4 inward = view_rows[view * VIEW_ROWS + plane];
        vec4 both = view_rows[view * VIEW_ROWS + 6u + (plane >> 1)];
        vec2 rounding = (plane & 1u) == 0u ? both.xy : both.zw;
        precise float product = ((c.x * inward.x + c.y * inward.y) + c.z * inward.z) + inward.w;
        precise float reach = (actor.radius + away * rounding.x) + rounding.y;
        precise float most = product + reach;
        out_of = out_of || most < 0.0;
    }
    return out_of;
}

// The square of the distance that sizes are divided by.
float distance_squared(const View view, const Actor actor) {
    precise vec3 d = actor.center - view.eye;
    precise float squared = (d.x * d.x + d.y * d.y) + d.z * d.z;
    return (view.flags & VIEW_PERSPECTIVE) != 0u ? squared : 1.0;
}

bool too_small(const View view, const Actor actor, const float squared) {
    precise float size = actor.radius * view.least_size;
    precise float least = size * size;
    return (view.flags & VIEW_COARSE) != 0u && squared > least;
}

// The coarsest level whose error is allowed at the sphere's near side. `last` is the level that the
// view had of the instance.
uint level_of(const View view, const vec2 per_error, const Actor actor, const float squared,
              const uint character, const uint last) {
    // An instance that hides parts keeps to the levels that have parts.
    uint counts = work[character + 2u];
    uint coarsest = ((actor.flags & ACTOR_VARIES) != 0u ? counts >> 16 : counts & 0xffffu) - 1u;
    if (view.fixed_level != 0u) {
        return min(view.fixed_level - 1u, coarsest);
    }
    float near = (view.flags & VIEW_PERSPECTIVE) != 0u ? actor.radius : 0.0;
    for (uint level = coarsest; level > 0u; --level) {
        float error = uintBitsToFloat(work[character + CHARACTER_ERRORS + level]);
        float per = level > last ? per_error.y : per_error.x;
        precise float scaled = actor.scale * error;
        precise float reach = per * scaled + near;
        precise float least = reach * reach;
        if (squared >= least) {
            return level;
        }
    }
    return 0u;
}

// True if a shared pose may stand in for the instance's own.
bool may_share(const View view, const Actor actor, const float squared) {
    float error = uintBitsToFloat(actor.flags & ACTOR_POSE_ERROR);
    float near = (view.flags & VIEW_PERSPECTIVE) != 0u ? actor.radius : 0.0;
    precise float scaled = actor.scale * error;
    precise float reach = view.per_pose * scaled + near;
    precise float least = reach * reach;
    return view.per_pose > 0.0 && error > 0.0 && squared >= least;
}

// What the errors per pixel are multiplied by if a view allows more error.
float inverse_factor(const uint power) {
    precise float inverse = 1.0;
    for (uint i = 0u; i < power; ++i) {
        inverse *= INVERSE_FACTOR;
    }
    return inverse;
}

uint last_level(const uint last, const uint view) {
    return view < REMEMBERED ? last >> (view * LEVEL_BITS) & (MAX_LEVELS - 1u) : 0u;
}

// OUTSIDE, TOO_SMALL, or the level of detail at which an eye shows an instance.
uint found_by(const uint eye, const View view, const vec2 per_error, const Actor actor,
              const uint character, const uint last) {
    float squared = distance_squared(view, actor);
    if (outside(eye, actor)) {
        return OUTSIDE;
    }
    if (too_small(view, actor, squared)) {
        return TOO_SMALL;
    }
    return level_of(view, per_error, actor, squared, character, last);
}

// What a view with several eyes finds: the finest level of those that show the instance. The errors
// per pixel are multiplied by `factor`.
uint found_by_eyes(const uint number, const View view, const float factor, const Actor actor,
                   const uint character, const uint last) {
    precise vec2 per_error = view.per_error * factor;
    uint found = found_by(number, view, per_error, actor, character, last);
    uint first = view.more >> 8, end = first + (view.more & 255u);
    for (uint eye = first; eye < end; ++eye) {
        View other = view_of(eye);
        per_error = other.per_error * factor;
        uint own = found_by(eye, other, per_error, actor, character, last);
        // One that no eye shows counts as too small if it is inside of one.
        found = min(found, own) < MAX_LEVELS ? min(found, own) : max(found, own);
    }
    return found;
}

// True if all eyes of a view allow a shared pose.
bool may_share_by_eyes(const View view, const Actor actor) {
    bool may = may_share(view, actor, distance_squared(view, actor));
    uint first = view.more >> 8, end = first + (view.more & 255u);
    for (uint eye = first; eye < end; ++eye) {
        View other = view_of(eye);
        may = may && may_share(other, actor, distance_squared(other, actor));
    }
    return may;
}
