// The structures of characters. See RayCharacter (src/crowd/rays/character.rs).

const uint INSTANCE_WORDS = 32u, INSTANCE_PALETTE = 28u, INSTANCE_MORPHS = 30u;

// The table of a character: its record in shader binding tables, the flags of instances that hide
// nothing and of others, clips of the directory, shared poses, the level of detail of these, the
// vertices of a slot, the address of the mesh buffer, the words of geometries for shared poses and
// for slots (see throng_hit.glsl), the errors in metres of both levels, and the index of the first
// material among the records of the mesh buffer. Then the addresses of the structures: of the rest
// pose, of each shared pose, and of each slot.
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer RayTable {
    uint words[];
};
const uint TABLE_BINDING = 0u, TABLE_FLAGS = 1u, TABLE_CLIPS = 3u, TABLE_POSES = 4u;
const uint TABLE_LEVEL = 5u, TABLE_SLOT_VERTICES = 6u, TABLE_GEOMETRIES = 10u;
const uint TABLE_ERRORS = 12u, TABLE_ADDRESSES = 16u;

RayTable table_of(const uint number) {
    uint at = RAY_HEAD + number * RAY_CHARACTER_WORDS + RAY_TABLE;
    return RayTable(uvec2(ray_work[at], ray_work[at + 1u]));
}

uvec2 palette_of(const uint instance) {
    uint at = instance * INSTANCE_WORDS + INSTANCE_PALETTE;
    return uvec2(table_words[at], table_words[at + 1u]);
}

// The address of a palette that may lie in the ring.
uvec2 absolute(const uvec2 palette) {
    uint carry;
    uint low = uaddCarry(ray_work[RAY_RING], palette.x, carry);
    return palette.y == NO_ADDRESS ? uvec2(low, ray_work[RAY_RING + 1u] + carry) : palette;
}

uvec2 rest_palette(const uint character) {
    return uvec2(work[character + CHARACTER_REST], work[character + CHARACTER_REST + 1u]);
}

// The structure of a palette: 0 for the rest pose, 1 for the first shared pose, and so on. Or
// NO_ADDRESS for a palette of its own.
uint structure_of(const RayTable table, const uint character, const uvec2 palette) {
    if (palette == rest_palette(character)) {
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
