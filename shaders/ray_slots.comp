// Stage ray_slots: one workgroup for each character. Of the people who want slots, the nearest get
// them: structures of their own, at a finer level of detail.
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
// The digits of the last key that is taken, and how many of those with these digits are.
shared uint last_key;
shared uint taken_of_last;
// The slots that are taken, and the candidates with the last key that have asked for one.
shared uint taken;
shared uint asked_of_last;

uint key_of(const uint instance) {
    return ray_work[ray_work[RAY_CHOSEN] + instance];
}

// Finds the last key of the `most` smallest, digit by digit.
void select(const uint list, const uint count, const uint most) {
    uint lane = gl_LocalInvocationID.x;
    if (lane == 0u) {
        last_key = 0u;
        taken_of_last = most;
        taken = 0u;
        asked_of_last = 0u;
    }
    for (uint shift = 32u; shift > 0u;) {
        uint above = shift == 32u ? 0u : 0xFFFFFFFFu << shift;
        shift -= 8u;
        for (uint bin = lane; bin < BINS; bin += LANES) {
            bins[bin] = 0u;
        }
        barrier();
        for (uint candidate = lane; candidate < count; candidate += LANES) {
            uint key = key_of(ray_work[list + candidate]);
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
    uint list = ray_work[RAY_CANDIDATES] + work[character] * CHUNK;
    uint count = ray_work[own + RAY_WANTING];
    select(list, count, most);
    uint vertex = ray_work[own + RAY_VERTICES], each = table.words[TABLE_SLOT_VERTICES];
    for (uint candidate = lane; candidate < count; candidate += LANES) {
        uint instance = ray_work[list + candidate], key = key_of(instance);
        bool takes = key < last_key
                     || (key == last_key && atomicAdd(asked_of_last, 1u) < taken_of_last);
        uint slot = takes ? atomicAdd(taken, 1u) : 0u;
        ray_work[ray_work[RAY_CHOSEN] + instance] = takes ? slot + 1u : 0u;
        if (takes) {
            uint morphs = table_words[instance * INSTANCE_WORDS + INSTANCE_MORPHS];
            write_job(ray_work[own + RAY_JOBS] + slot * RAY_JOB_WORDS,
                      absolute(palette_of(instance)), vertex + slot * each, morphs);
        }
    }
    barrier();
    // The others rest.
    for (uint slot = taken + lane; slot < jobs; slot += LANES) {
        write_job(ray_work[own + RAY_JOBS] + slot * RAY_JOB_WORDS, rest_palette(character),
                  vertex + slot * each, NO_ADDRESS);
    }
}
