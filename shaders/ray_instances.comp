// Stage ray_instances: a lane for each member. It writes the VkAccelerationStructureInstanceKHR of
// each one that the view shows, in the order of its lists, and zeros behind the last one.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_GOOGLE_include_directive : require

#include "include/stages.glsl"
#include "include/playback.glsl"
#include "include/shared_pose.glsl"
#include "include/ray_work.glsl"
#include "include/ray_table.glsl"

layout(local_size_x = CHUNK) in;

layout(set = 1, binding = 1, std430) writeonly buffer Records { uvec4 records[]; };
// The head, and two for each instance: ThrongMet (throng_hit.glsl).
layout(set = 1, binding = 3, std430) writeonly buffer Met { uvec4 met[]; };

// The first of the words of an actor that say what it hides.
const uint ACTOR_HIDDEN = 8u;

uvec2 address_of(const RayTable table, const uint structure) {
    uint at = TABLE_ADDRESSES + structure * 2u;
    return uvec2(table.words[at], table.words[at + 1u]);
}

// Writes the record of an instance, which has a slot with number `slot` minus 1, or 0.
void write(const uint place, const uint instance, const uint number, const uint slot) {
    uint at_table = RAY_HEAD + number * RAY_CHARACTER_WORDS + RAY_TABLE;
    RayTable table = table_of(number);
    uint character = characters_at + number * CHARACTER_WORDS;
    vec4 actor = table_rows[actors_at + instance * ACTOR_ROWS + 1u];
    uint mask = floatBitsToUint(actor.y), flags = floatBitsToUint(actor.z);
    uvec2 palette = palette_of(instance);
    uint structure = structure_of(table, character, palette), morphs = NO_ADDRESS;
    uvec2 address = uvec2(0u);
    if (slot > 0u) {
        address = address_of(table, table.words[TABLE_POSES] + slot);
    }
    bool own = address != uvec2(0u), approximated = !own && structure == NO_ADDRESS;
    float error_m = uintBitsToFloat(table.words[TABLE_ERRORS + (own ? 1u : 0u)]);
    if (own) {
        atomicAdd(ray_work[RAY_OWN], 1u);
        palette = absolute(palette);
        morphs = table_words[instance * INSTANCE_WORDS + INSTANCE_MORPHS];
    } else {
        if (approximated) {
            atomicAdd(ray_work[RAY_APPROXIMATED], 1u);
            if ((flags & ACTOR_POSED) != 0u) {
                palette = shared_pose(character, floatBitsToUint(actor.w));
                structure = structure_of(table, character, palette);
            }
        }
        address = structure == NO_ADDRESS ? uvec2(0u) : address_of(table, structure);
        if (address == uvec2(0u)) {
            approximated = approximated || structure != NO_ADDRESS;
            palette = rest_palette(character);
            address = address_of(table, 0u);
        }
        error_m += uintBitsToFloat(flags & ACTOR_POSE_ERROR);
    }
    met[1u + instance * 2u] = uvec4(ray_work[at_table], ray_work[at_table + 1u], palette);
    met[2u + instance * 2u] = uvec4(morphs, table.words[TABLE_GEOMETRIES + (own ? 1u : 0u)],
                                    floatBitsToUint(error_m * actor.x), approximated ? 1u : 0u);
    if (address == uvec2(0u)) {
        atomicAdd(ray_work[RAY_WITHOUT], 1u);
    }
    uint varies = (flags & ACTOR_VARIES) != 0u ? 1u : 0u;
    for (uint row = 0u; row < 3u; ++row) {
        vec4 own = table_rows[instance * INSTANCE_ROWS + row];
        records[place * 4u + row] = floatBitsToUint(own);
    }
    records[place * 4u + 3u] = uvec4(instance | mask & 0xFF000000u,
                                     table.words[TABLE_BINDING]
                                     | table.words[TABLE_FLAGS + varies] << 24, address);
}

void main() {
    uint chunk = gl_WorkGroupID.x, lane = gl_LocalInvocationID.x;
    uint count = ray_work[RAY_COUNT], people = ray_work[RAY_PEOPLE];
    uint record = chunks_at + chunk * CHUNK_WORDS;
    if (work[record + 1u] > 0u) {
        uint number = work[record];
        uint at = RAY_HEAD + number * RAY_CHARACTER_WORDS;
        uint first = work[characters_at + number * CHARACTER_WORDS];
        uint place = (chunk - first) * CHUNK + lane, to = ray_work[at + RAY_START] + place;
        if (place < ray_work[at + RAY_TOTAL] && to < count) {
            uint list = visible_at + (ray_work[RAY_VIEW] * chunk_count + first) * CHUNK;
            bool slots = ray_work[at + RAY_SLOTS] != 0u;
            uint instance = work[list + place];
            uint slot = slots ? ray_work[ray_work[RAY_CHOSEN] + instance] : 0u;
            write(to, instance, number, slot);
        }
    }
    if (gl_GlobalInvocationID.x == 0u) {
        met[0] = uvec4(ray_work[RAY_VIEW_ADDRESS], ray_work[RAY_VIEW_ADDRESS + 1u],
                       actors_at * 4u + ACTOR_HIDDEN, 0u);
    }
    uint all = gl_NumWorkGroups.x * CHUNK;
    for (uint place = people + gl_GlobalInvocationID.x; place < count; place += all) {
        for (uint row = 0u; row < 4u; ++row) {
            records[place * 4u + row] = uvec4(0u);
        }
    }
}
