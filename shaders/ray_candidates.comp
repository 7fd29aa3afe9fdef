// Stage ray_candidates: a lane for each member. It finds who wants a slot: people whom the view shows
// at a finer level of detail than that of shared poses, and those in a pose that no single clip has.
// If there is no finer level, all in a pose of their own do. It leaves them in any order.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_GOOGLE_include_directive : require

#include "include/stages.glsl"
#include "include/ray_work.glsl"
#include "include/ray_table.glsl"

layout(local_size_x = CHUNK) in;

// What the square of a distance is multiplied by: people whom no other view shows count as four
// times as far, and those without a clip, who would be met in the rest pose, as four times as near.
const float UNSEEN = 16.0, ALONE = 0.0625;

uint bucket_of(const uint view, const uint member) {
    return work[choice_at(view, member)] >> (8u * (view & 3u)) & CHOSEN;
}

// Nearer people have smaller keys.
uint key_of(const uint instance, const uint member, const bool alone) {
    uint at = actors_at + instance * ACTOR_ROWS, of_rays = ray_work[RAY_VIEW];
    vec3 away = table_rows[at].xyz - view_rows[of_rays * VIEW_ROWS + 9u].xyz;
    float scale = max(table_rows[at + 1u].x, 1.0e-18);
    float distance_2 = dot(away, away) / (scale * scale);
    bool seen = view_count == 1u;
    for (uint view = 0u; view < view_count; ++view) {
        seen = seen || (view != of_rays && bucket_of(view, member) < BUCKETS);
    }
    float factor = (seen ? 1.0 : UNSEEN) * (alone ? ALONE : 1.0);
    return floatBitsToUint(min(distance_2 * factor, 3.0e38));
}

void main() {
    uint chunk = gl_WorkGroupID.x, lane = gl_LocalInvocationID.x;
    uint record = chunks_at + chunk * CHUNK_WORDS;
    if (lane >= work[record + 1u]) {
        return;
    }
    uint number = work[record], at = RAY_HEAD + number * RAY_CHARACTER_WORDS;
    if (ray_work[at + RAY_SLOTS] == 0u) {
        return;
    }
    uint member = chunk * CHUNK + lane, instance = work[members_at + member];
    ray_work[ray_work[RAY_CHOSEN] + instance] = 0u;
    uint bucket = bucket_of(ray_work[RAY_VIEW], member);
    if (bucket >= BUCKETS) {
        return;
    }
    RayTable table = table_of(number);
    uint character = characters_at + number * CHARACTER_WORDS;
    vec4 actor = table_rows[actors_at + instance * ACTOR_ROWS + 1u];
    bool posed = (floatBitsToUint(actor.z) & ACTOR_POSED) != 0u;
    uint plays = floatBitsToUint(actor.w) & ((1u << PLAY_COUNT_BITS) - 1u);
    uint coarse = table.words[TABLE_LEVEL], level = bucket >> 1 & (MAX_LEVELS - 1u);
    bool own = structure_of(table, character, palette_of(instance)) == NO_ADDRESS;
    if (level >= coarse && (!own || (posed && plays < 2u && coarse > 0u))) {
        return;
    }
    bool alone = own && !posed;
    ray_work[ray_work[RAY_CHOSEN] + instance] = key_of(instance, member, alone);
    uint candidate = atomicAdd(ray_work[at + RAY_WANTING], 1u);
    ray_work[ray_work[RAY_CANDIDATES] + work[character] * CHUNK + candidate] = instance;
}
