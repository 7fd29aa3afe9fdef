// Stage ray_slots: one workgroup for each character. The people nearest to the eye of the view get
// slots: structures of their own, at a finer level of detail. These are people whom the view shows
// at a finer level than that of shared poses, or if there is none, those with a palette of their
// own. Equally near ones are taken in the order of the list.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_GOOGLE_include_directive : require

#include "include/stages.glsl"
#include "include/ray_work.glsl"
#include "include/ray_table.glsl"

const uint LANES = 128u, BINS = 256u;
layout(local_size_x = LANES) in;
shared uint bins[BINS];
shared uint flags[LANES];
// The digits of the last key that is taken, and how many of those with these digits are.
shared uint last_key;
shared uint taken_of_last;

// Two ranges of a list, of those that are not flipped and of those that are.
struct Candidates {
    uint first[2];
    uint count[2];
};

// The place in the list.
uint place_of(const Candidates all, const uint candidate) {
    return candidate < all.count[0] ? all.first[0] + candidate
                                    : all.first[1] + (candidate - all.count[0]);
}

// Nearer people have smaller keys. NO_ADDRESS for one that wants no slot.
uint key_of(const uint instance, const RayTable table, const uint character) {
    bool finer = table.words[TABLE_LEVEL] > 0u;
    if (!finer && structure_of(table, character, palette_of(instance)) != NO_ADDRESS) {
        return NO_ADDRESS;
    }
    uint at = actors_at + instance * ACTOR_ROWS;
    vec3 eye = view_rows[ray_work[RAY_VIEW] * VIEW_ROWS + 9u].xyz;
    vec3 away = table_rows[at].xyz - eye;
    float scale = max(table_rows[at + 1u].x, 1.0e-18);
    return floatBitsToUint(min(dot(away, away) / (scale * scale), 3.0e38));
}

// Finds the last key of the `most` smallest, digit by digit.
void select(const uint keys, const Candidates all, const uint count, const uint most) {
    uint lane = gl_LocalInvocationID.x;
    if (lane == 0u) {
        last_key = 0u;
        taken_of_last = most;
    }
    for (uint shift = 32u; shift > 0u;) {
        uint above = shift == 32u ? 0u : 0xFFFFFFFFu << shift;
        shift -= 8u;
        for (uint bin = lane; bin < BINS; bin += LANES) {
            bins[bin] = 0u;
        }
        barrier();
        for (uint candidate = lane; candidate < count; candidate += LANES) {
            uint key = ray_work[keys + place_of(all, candidate)];
            if ((key & above) == last_key) {
                atomicAdd(bins[key >> shift & (BINS - 1u)], 1u);
            }
        }
        barrier();
        if (lane == 0u) {
            uint bin = 0u;
            while (bin < BINS - 1u && bins[bin] < taken_of_last) {
                taken_of_last -= bins[bin];
                ++bin;
            }
            last_key |= bin << shift;
        }
        barrier();
    }
}

void write_job(const uint at, const uvec2 palette, const uint vertex, const uint morphs) {
    ray_work[at] = palette.x;
    ray_work[at + 1u] = palette.y;
    ray_work[at + 2u] = vertex;
    ray_work[at + 3u] = morphs;
}

void main() {
    uint number = gl_WorkGroupID.x, lane = gl_LocalInvocationID.x;
    uint own = RAY_HEAD + number * RAY_CHARACTER_WORDS;
    uint slots = ray_work[own + RAY_SLOTS];
    uint most = slots & 0xFFFFu, jobs = slots >> 16;
    if (jobs == 0u) {
        return;
    }
    RayTable table = table_of(number);
    uint character = characters_at + number * CHARACTER_WORDS;
    uint total = ray_work[own + RAY_TOTAL], first = work[character] * CHUNK;
    uint list = visible_at + ray_work[RAY_VIEW] * chunk_count * CHUNK + first;
    uint places = ray_work[RAY_PLACES] + first;
    // The lists of buckets follow each other: flipped * 16 + level * 2 + hides.
    uint starts = start_at(ray_work[RAY_VIEW], number);
    uint level = table.words[TABLE_LEVEL];
    uint ends = level == 0u ? 16u : level * 2u;
    Candidates all;
    for (uint kind = 0u; kind < 2u; ++kind) {
        uint begin = work[starts + kind * 16u] - list, end = kind * 16u + ends;
        all.first[kind] = begin;
        all.count[kind] = (end < BUCKETS ? work[starts + end] - list : total) - begin;
    }
    uint count = all.count[0] + all.count[1];
    for (uint place = lane; place < total; place += LANES) {
        ray_work[places + place] = 0u;
    }
    memoryBarrierBuffer();
    barrier();
    uint wanting = 0u;
    for (uint candidate = lane; candidate < count; candidate += LANES) {
        uint place = place_of(all, candidate);
        uint key = key_of(work[list + place], table, character);
        ray_work[places + place] = key;
        wanting += key != NO_ADDRESS ? 1u : 0u;
    }
    atomicAdd(ray_work[own + RAY_WANTING], wanting);
    memoryBarrierBuffer();
    barrier();
    select(places, all, count, most);
    uint taken = 0u, of_last = 0u, vertex = ray_work[own + RAY_VERTICES];
    uint each = table.words[TABLE_SLOT_VERTICES];
    for (uint block = 0u; block < count; block += LANES) {
        uint candidate = block + lane, key = NO_ADDRESS, place = 0u;
        if (candidate < count) {
            place = place_of(all, candidate);
            key = ray_work[places + place];
        }
        flags[lane] = key < last_key ? 1u : (key == last_key && key != NO_ADDRESS ? 2u : 0u);
        barrier();
        uint nearer = taken, equal = of_last;
        for (uint other = 0u; other < LANES; ++other) {
            bool before = other < lane;
            nearer += before && flags[other] == 1u ? 1u : 0u;
            equal += before && flags[other] == 2u ? 1u : 0u;
            taken += flags[other] == 1u ? 1u : 0u;
            of_last += flags[other] == 2u ? 1u : 0u;
        }
        uint slot = nearer + min(equal, taken_of_last);
        bool takes = flags[lane] == 1u || (flags[lane] == 2u && equal < taken_of_last);
        if (candidate < count) {
            ray_work[places + place] = takes && slot < most ? slot + 1u : 0u;
        }
        if (takes && slot < most) {
            uint instance = work[list + place];
            uvec2 palette = absolute(palette_of(instance));
            uint morphs = table_words[instance * INSTANCE_WORDS + INSTANCE_MORPHS];
            write_job(ray_work[own + RAY_JOBS] + slot * RAY_JOB_WORDS, palette,
                      vertex + slot * each, morphs);
        }
        barrier();
    }
    // The others rest.
    uint used = min(taken + min(of_last, taken_of_last), most);
    for (uint slot = used + lane; slot < jobs; slot += LANES) {
        write_job(ray_work[own + RAY_JOBS] + slot * RAY_JOB_WORDS, rest_palette(character),
                  vertex + slot * each, NO_ADDRESS);
    }
}
