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

layout(local_size_x = CHUNK) in;

layout(set = 1, binding = 1, std430) writeonly buffer Records { uvec4 records[]; };

const uint INSTANCE_WORDS = 32u, INSTANCE_PALETTE = 28u;
const uint NO_ADDRESS = 0xFFFFFFFFu;

// The table of a character: its record in shader binding tables, the flags of instances that hide
// nothing and of others, clips of the directory, and shared poses. Then the addresses of the
// structures: of the rest pose, and of each shared pose.
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer RayTable {
    uint words[];
};
const uint TABLE_BINDING = 0u, TABLE_FLAGS = 1u, TABLE_CLIPS = 3u, TABLE_POSES = 4u;
const uint TABLE_ADDRESSES = 8u;

// The structure of a palette: 0 for the rest pose, 1 for the first shared pose, and so on. Or
// NO_ADDRESS for a palette of its own.
uint structure_of(const RayTable table, const uint character, const uvec2 palette) {
    if (palette == uvec2(work[character + CHARACTER_REST], work[character + CHARACTER_REST + 1u])) {
        return 0u;
    }
    uvec2 directory = uvec2(work[character + CHARACTER_SHARED],
                            work[character + CHARACTER_SHARED + 1u]);
    if (palette.y == NO_ADDRESS || directory == uvec2(0u)) {
        return NO_ADDRESS;
    }
    uint borrow;
    uint bytes = usubBorrow(palette.x, directory.x, borrow);
    uint row = bytes >> 4, rows = work[character + CHARACTER_PALETTE_ROWS];
    uint clips = table.words[TABLE_CLIPS];
    bool inside = palette.y - borrow == directory.y && row >= clips && rows > 0u;
    uint pose = inside ? (row - clips) / rows : NO_ADDRESS;
    return pose < table.words[TABLE_POSES] ? pose + 1u : NO_ADDRESS;
}

uvec2 address_of(const RayTable table, const uint structure) {
    uint at = TABLE_ADDRESSES + structure * 2u;
    return uvec2(table.words[at], table.words[at + 1u]);
}

void write(const uint place, const uint instance, const uint number) {
    uint at = RAY_HEAD + number * RAY_CHARACTER_WORDS;
    RayTable table = RayTable(uvec2(ray_work[at + 2u], ray_work[at + 3u]));
    uint character = characters_at + number * CHARACTER_WORDS;
    vec4 actor = table_rows[actors_at + instance * ACTOR_ROWS + 1u];
    uint mask = floatBitsToUint(actor.y), flags = floatBitsToUint(actor.z);
    uint words = instance * INSTANCE_WORDS + INSTANCE_PALETTE;
    uvec2 palette = uvec2(table_words[words], table_words[words + 1u]);
    uint structure = structure_of(table, character, palette);
    if (structure == NO_ADDRESS) {
        atomicAdd(ray_work[RAY_STANDING_IN], 1u);
        if ((flags & ACTOR_POSED) != 0u) {
            palette = shared_pose(character, floatBitsToUint(actor.w));
            structure = structure_of(table, character, palette);
        }
        structure = structure == NO_ADDRESS ? 0u : structure;
    }
    uvec2 address = address_of(table, structure);
    if (address == uvec2(0u)) {
        address = address_of(table, 0u);
    }
    if (address == uvec2(0u)) {
        atomicAdd(ray_work[RAY_WITHOUT], 1u);
    }
    uint hides = (flags & ACTOR_HIDES) != 0u ? 1u : 0u;
    for (uint row = 0u; row < 3u; ++row) {
        vec4 own = table_rows[instance * INSTANCE_ROWS + row];
        records[place * 4u + row] = floatBitsToUint(own);
    }
    records[place * 4u + 3u] = uvec4(instance | mask & 0xFF000000u,
                                     table.words[TABLE_BINDING]
                                     | table.words[TABLE_FLAGS + hides] << 24, address);
}

void main() {
    uint chunk = gl_WorkGroupID.x, lane = gl_LocalInvocationID.x;
    uint count = ray_work[RAY_COUNT], people = ray_work[RAY_PEOPLE];
    uint record = chunks_at + chunk * CHUNK_WORDS;
    if (work[record + 1u] > 0u) {
        uint number = work[record];
        uint at = RAY_HEAD + number * RAY_CHARACTER_WORDS;
        uint first = work[characters_at + number * CHARACTER_WORDS];
        uint place = (chunk - first) * CHUNK + lane, to = ray_work[at] + place;
        if (place < ray_work[at + 1u] && to < count) {
            uint list = visible_at + (ray_work[RAY_VIEW] * chunk_count + first) * CHUNK;
            write(to, work[list + place], number);
        }
    }
    uint all = gl_NumWorkGroups.x * CHUNK;
    for (uint place = people + gl_GlobalInvocationID.x; place < count; place += all) {
        for (uint row = 0u; row < 4u; ++row) {
            records[place * 4u + row] = uvec4(0u);
        }
    }
}
