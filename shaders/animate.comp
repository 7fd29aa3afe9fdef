// Stages animate and palette: one workgroup for each instance. It blends what the instance plays,
// and writes its palette, and the morph weights that its clips drive. The CPU's side is src/animate
// and src/motion/blend. ClipSample documents the rule of blending.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_GOOGLE_include_directive : require

// The largest number of joints, and the format of the entries.
layout(constant_id = 0) const uint JOINTS = 64u;
layout(constant_id = 1) const uint METHOD = 0u;
// What clips of the character have besides packed keys of joints: 1 curves, 2 morph weights.
layout(constant_id = 2) const uint FEATURES = 0u;
const bool HAS_CURVES = (FEATURES & 1u) != 0u;
const bool HAS_WEIGHTS = (FEATURES & 2u) != 0u;

#include "include/playback.glsl"
#include "include/clip.glsl"
#define SLOTS JOINTS
#define GROUPS 1u
#define GROUP 0u
#define GROUP_LANE gl_LocalInvocationID.x
#include "include/blend.glsl"
#include "include/weights.glsl"
#include "include/palette_entry.glsl"

const uint LANES = 64u;
layout(local_size_x = LANES) in;
// Workgroups in a row of a dispatch.
const uint ROW_GROUPS = 32768u;
const uint NO_WEIGHTS = 0xFFFFFFFFu;
// A morph weight of the caller's that replaces what clips give. Others are added.
const uint REPLACES = 0x80000000u;

layout(buffer_reference, std430, buffer_reference_align = 4) writeonly buffer Weights {
    uint words[];
};

layout(push_constant) uniform Push {
    uvec2 tables;   // device addresses
    uvec2 plays;
    uvec2 jobs;     // for each instance: first play, number of plays, row of its palette, and first
                    // word of its active morph weights, or NO_WEIGHTS
    uvec2 palettes; // where rows and words count from
    uvec2 morphs;
    uvec2 own_weights; // those that the caller set, or 0
    uvec2 counted;  // the number of instances, or 0
    uvec2 now;      // ticks
    uint most;      // the number of instances, if it is not read
    uint still_clip; // a clip plus 1, to pose it from its start to its end, or 0 for jobs
};

// A bit for each lane whose morph weight is not 0.
shared uint listed_lanes[2];

// A morph weight: blend_weights of src/motion/blend.
float morph_weight(const Rows tables, const Words all, const uvec4 job, const uint count,
                   const uint weight, const float rest) {
    uvec4 starts = tables.rows[HEADER_STARTS];
    Rows words = Rows(plays);
    float value = rest;
    for (uint start = 0u; start < count;) {
        uint layer = layers[start] & 255u;
        float whole = layer == 0u ? FULL_WEIGHT : 1.0;
        float all_weights = 0.0, driven = 0.0, sum = 0.0, added = 0.0;
        uint number = start;
        for (; number < count && (layers[number] & 255u) == layer; ++number) {
            if (weights[number] <= 0.0) {
                continue;
            }
            all_weights += is_additive(number) ? 0.0 : weights[number];
            if ((layers[number] & DRIVES) == 0u) {
                continue;
            }
            Play play = played_at(words, job.x + number);
            uvec4 header = tables.rows[starts.w + (play.clip & 0xFFFFu) * CLIP_ROWS + 2u];
            uint track = all.words[header.w + weight];
            if (track == 0u) {
                continue;
            }
            float own = weight_of_clip(tables, all, track, play, now, positions[number]);
            if (is_additive(number)) {
                added += weights[number] * own;
            } else {
                driven += weights[number];
                sum += weights[number] * own;
            }
        }
        whole = max(whole, all_weights);
        if (driven >= whole) {
            value = sum / driven;
        } else if (driven > 0.0) {
            value = (sum + (whole - driven) * value) / whole;
        }
        value += added;
        start = number;
    }
    return value;
}

// A morph weight with what the caller set: Weights::apply of src/animator/state/weights.rs. `at` is
// the number of these weights, which follow it.
float with_own(const uint at, const uint weight, const float value) {
    if (own_weights == uvec2(0u)) {
        return value;
    }
    Words own = Words(own_weights);
    uint end = at + 1u + 2u * own.words[at];
    for (uint i = at + 1u; i < end; i += 2u) {
        uint word = own.words[i];
        if ((word & ~REPLACES) == weight) {
            float set = uintBitsToFloat(own.words[i + 1u]);
            return (word & REPLACES) != 0u ? set : value + set;
        }
    }
    return value;
}

// Writes the morph weights that are not 0, in ascending order, if a clip drives some.
void morph(const Rows tables, const Words all, const uvec4 job, const uint count) {
    uint lane = gl_LocalInvocationID.x;
    bool drives = false;
    for (uint number = 0u; number < count; ++number) {
        // Also one whose weight has just become 0, or the last weights would stay.
        drives = drives || (layers[number] & DRIVES) != 0u;
    }
    if (!drives || job.w == NO_WEIGHTS) {
        return;
    }
    uvec4 header = tables.rows[HEADER_DEPTH];
    Weights target = Weights(morphs);
    uint written = 0u;
    for (uint first = 0u; first < header.y; first += LANES) {
        if (lane < 2u) {
            listed_lanes[lane] = 0u;
        }
        barrier();
        uint weight = min(first + lane, header.y - 1u);
        float rest = uintBitsToFloat(all.words[header.z + weight]);
        float value = morph_weight(tables, all, job, count, weight, rest);
        value = with_own(job.w, weight, value);
        bool counts = first + lane < header.y && value != 0.0;
        if (counts) {
            atomicOr(listed_lanes[lane >> 5], 1u << (lane & 31u));
        }
        barrier();
        uint low = listed_lanes[0], high = listed_lanes[1];
        uint before = (lane < 32u ? low : high) & ((1u << (lane & 31u)) - 1u);
        uint rank = uint(bitCount(before) + (lane < 32u ? 0 : bitCount(low)));
        if (counts) {
            uint at = job.w + 1u + (written + rank) * 2u;
            target.words[at] = weight;
            target.words[at + 1u] = floatBitsToUint(value);
        }
        written += uint(bitCount(low) + bitCount(high));
        barrier();
    }
    if (lane == 0u) {
        target.words[job.w] = written;
    }
}

// Poses one instance.
void animate(const uint instance) {
    uint lane = gl_LocalInvocationID.x;
    Rows all_tables = Rows(tables);
    Words all = Words(tables);
    uvec4 counts = all_tables.rows[HEADER_COUNTS];
    uvec4 starts = all_tables.rows[HEADER_STARTS];
    uint levels = all_tables.rows[HEADER_DEPTH].x;
    uvec4 job = uvec4(0u, 1u, instance * counts.y * entry_rows(METHOD), NO_WEIGHTS);
    if (still_clip == 0u) {
        job = Rows(jobs).rows[instance];
    }
    uint played = min(job.y, PLAYS);
    if (played > 0u) {
        uint number = min(lane, played - 1u);
        Play play = still_clip != 0u ? still_play(still_clip - 1u, instance, most - 1u)
                                     : played_at(Rows(plays), job.x + number);
        begin_play(all_tables, all, play, now, played);
    }
    barrier();
    for (uint first = 0u; first < counts.x; first += LANES) {
        uint joint = min(first + lane, counts.x - 1u);
        pose(all_tables, all, joint, played, joint);
    }
    barrier();
    for (uint first = 0u; first < counts.y; first += LANES) {
        uint entry = min(first + lane, counts.y - 1u);
        uint at = starts.y + entry * ENTRY_ROWS;
        vec4 i = uintBitsToFloat(all_tables.rows[at]);
        vec4 j = uintBitsToFloat(all_tables.rows[at + 1u]);
        vec4 k = uintBitsToFloat(all_tables.rows[at + 2u]);
        uint joint = all_tables.rows[at + 3u].x;
        // From the joint up to the root. All lanes take as many steps as the deepest joint needs.
        for (uint depth = 0u; depth < levels; ++depth) {
            bool more = joint != NO_PARENT;
            uint row = more ? joint : 0u;
            vec4 a = product_row(local_rows[row * 3u], i, j, k);
            vec4 b = product_row(local_rows[row * 3u + 1u], i, j, k);
            vec4 c = product_row(local_rows[row * 3u + 2u], i, j, k);
            i = more ? a : i;
            j = more ? b : j;
            k = more ? c : k;
            joint = more ? parents[row] : NO_PARENT;
        }
        uvec2 row = uvec2(job.z << 4, job.z >> 28);
        write_entry(Palette(sum(palettes, row)), entry, METHOD, i, j, k);
    }
    if (HAS_WEIGHTS) {
        morph(all_tables, all, job, played);
    }
}

void main() {
    uint instance = gl_WorkGroupID.y * ROW_GROUPS + gl_WorkGroupID.x;
    uint instances = most;
    if (counted != uvec2(0u)) {
        instances = Words(counted).words[0];
    }
    if (instance < instances) {
        animate(instance);
    }
}
