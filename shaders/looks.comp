// Stage looks: one workgroup for each view and draw of instances whose looks vary. It lists those
// that the draw shows, in the order of their bucket, and completes the draw's arguments.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_GOOGLE_include_directive : require

#include "include/stages.glsl"

// True if draws have the starts of their lists as first instances.
layout(constant_id = 0) const bool FIRST_INSTANCES = false;

const uint LOOKS_WORKGROUP = 256u, BLOCKS = LOOKS_WORKGROUP / 32u;
// Draws in a row of workgroups, of which each view has some.
const uint LOOKS_ROW = 32768u;
layout(local_size_x = LOOKS_WORKGROUP) in;

// Words of an instance and of an actor: the variant in the high half, and the first of what it
// hides.
const uint INSTANCE_VARIANT = 27u, ACTOR_HIDDEN = 8u;
// See GpuDraw::kind.
const uint DRAW_NO_PART = 255u, DRAW_ORDINAL_SHIFT = 8u;
const uint NO_CLASS = 0xFFFFFFFFu;

layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer Variants {
    uvec2 rows[];  // as ThrongPrimitive.variants has them
};

// A bit for each lane whose instance the draw shows.
shared uint lanes[BLOCKS];

bool shows(const uint instance, const uint part, const uint class_of_draw, const uvec2 variants) {
    if (part != DRAW_NO_PART) {
        uint at = (actors_at + instance * ACTOR_ROWS) * 4u + ACTOR_HIDDEN;
        if ((table_words[at + (part >> 5)] >> (part & 31u) & 1u) != 0u) {
            return false;
        }
    }
    if (class_of_draw == NO_CLASS) {
        return true;
    }
    uint variant = table_words[instance * INSTANCE_ROWS * 4u + INSTANCE_VARIANT] >> 16;
    return Variants(variants).rows[variant].y == class_of_draw;
}

void main() {
    uint draw = gl_WorkGroupID.y / view_count * LOOKS_ROW + gl_WorkGroupID.x;
    uint view = gl_WorkGroupID.y % view_count, lane = gl_LocalInvocationID.x;
    if (draw >= draw_count) {
        return;
    }
    uint from = draws_at + draw * DRAW_WORDS;
    uint number = work[from], bucket = work[from + 1u];
    if (number >= character_count || bucket >= BUCKETS || (bucket & 1u) == 0u) {
        return;
    }
    uint looks = characters_at + number * CHARACTER_WORDS + CHARACTER_LOOKS;
    // Behind the last draw in use, a record may be anything.
    if (draw - work[looks + 3u] >= work[looks + 4u]) {
        return;
    }
    uint kind = work[from + 4u], class_of_draw = work[from + 5u];
    uvec2 variants = uvec2(work[from + 6u], work[from + 7u]);
    uint starts = start_at(view, number);
    uint list = work[starts + bucket], count = work[starts + BUCKETS + bucket];
    uint to = looks_at + work[looks] * view_count
              + (view * work[looks + 2u] + (kind >> DRAW_ORDINAL_SHIFT)) * work[looks + 1u];
    for (uint before = 1u; before < bucket; before += 2u) {
        to += work[starts + BUCKETS + before];
    }
    uint total = 0u;
    for (uint first = 0u; first < count; first += LOOKS_WORKGROUP) {
        if (lane < BLOCKS) {
            lanes[lane] = 0u;
        }
        barrier();
        uint instance = 0u;
        bool shown = false;
        if (first + lane < count) {
            instance = work[list + first + lane];
            shown = shows(instance, kind & DRAW_NO_PART, class_of_draw, variants);
        }
        if (shown) {
            atomicOr(lanes[lane >> 5], 1u << (lane & 31u));
        }
        barrier();
        uint rank = uint(bitCount(lanes[lane >> 5] & ((1u << (lane & 31u)) - 1u))), all = 0u;
        for (uint block = 0u; block < BLOCKS; ++block) {
            uint here = uint(bitCount(lanes[block]));
            rank += block < lane >> 5 ? here : 0u;
            all += here;
        }
        if (shown) {
            work[to + total + rank] = instance;
        }
        total += all;
        barrier();
    }
    if (lane == 0u) {
        uint args = args_at + (view * draw_count + draw) * ARGS_WORDS;
        work[args + 1u] = total;
        work[args + 4u] = FIRST_INSTANCES ? to : 0u;
        work[args + ARGS_START] = to;
    }
}
