// What the stages share that decide who is drawn and how it is posed: cull, scan, allocate_rows,
// compact, args and looks. The crate has those that decide who is drawn on the CPU, too
// (src/crowd/visibility), with equal results.

#include "actor.glsl"

// Members of a chunk. All of them are instances of one character.
const uint CHUNK = 64u;
// Levels of detail, with the full one.
const uint MAX_LEVELS = 8u;
// Instances that are drawn alike stand in one bucket: flipped * 16 + level * 2 + 1 if
// their looks vary.
const uint BUCKETS = 32u;
// What becomes of members that are in no bucket.
const uint OUTSIDE = 32u, TOO_SMALL = 33u, NOT_SHOWN = 63u;
// A choice: a bucket or one of those. That of the last view says besides that the member needs a
// palette of its own.
const uint CHOSEN = 63u, OWN_POSE = 64u;
// Views whose levels are remembered from frame to frame, and the bits of one.
const uint REMEMBERED = 10u, LEVEL_BITS = 3u;
// The factors by which a view may allow more error are powers of the fourth root of 2, up to this.
const uint FACTORS = 40u;
const float INVERSE_FACTOR = 0.840896415253714543;

// See GpuCullView.
const uint VIEW_ROWS = 12u, VIEW_PERSPECTIVE = 1u, VIEW_COARSE = 2u, VIEW_BUDGET = 4u;

// Words of a chunk, a draw, its arguments and an AnimateJob. Arguments are a
// VkDrawIndexedIndirectCommand and the start of the list.
const uint CHUNK_WORDS = 2u, DRAW_WORDS = 8u, ARGS_WORDS = 6u, JOB_WORDS = 4u;
const uint ARGS_START = 5u;
// Words of a character: first chunk, number of chunks, number of levels, rows of a palette; then
// the error in metres and the triangles of each level, the addresses of its shared poses, or 0, and
// of its rest palette, the workgroups of each dispatch of the stage skin for an instance, and where the stage looks
// lists its members: start, length of a list, and number of lists for a view, first draw and number
// of draws. The
// high half of the number of levels is that of the levels which have parts.
const uint CHARACTER_WORDS = 40u, CHARACTER_ERRORS = 4u, CHARACTER_TRIANGLES = 12u;
const uint CHARACTER_PALETTE_ROWS = 3u, CHARACTER_SHARED = 20u, CHARACTER_REST = 22u;
const uint CHARACTER_SKINS = 24u, CHARACTER_LOOKS = 32u;
// Words of a character's poses: VkDispatchIndirectCommand and the number of jobs.
const uint POSE_WORDS = 4u;
// Words for the stage skin of a character: the number of instances, and a
// VkDispatchIndirectCommand for each of its dispatches.
const uint SKINS = 8u, SKIN_WORDS = 28u;
// Words of a view's counters: outside, too small, 8 levels, triangles (low, high), factor.
const uint COUNTER_WORDS = 16u, COUNT_LEVELS = 2u, COUNT_TRIANGLES = 10u, COUNT_FACTOR = 12u;
// Words before those of the first view: instances with shared poses, those without memory for a
// palette of their own, and those that the stage skin deforms.
const uint TOTAL_WORDS = 16u, TOTAL_SHARED = 0u, TOTAL_WITHOUT_MEMORY = 1u, TOTAL_SKINNED = 2u;
// Words of a chunk, for poses: members that need palettes of their own, and the first of the rows
// of all these.
const uint POSED_WORDS = 2u;

layout(set = 0, binding = 0, std430) buffer Table { vec4 table_rows[]; };
layout(set = 0, binding = 0, std430) buffer TableWords { uint table_words[]; };
layout(set = 0, binding = 1, std430) buffer Work { uint work[]; };
layout(set = 0, binding = 2, std430) readonly buffer Views { vec4 view_rows[]; };
layout(set = 0, binding = 2, std430) readonly buffer Listed { uint listed[]; };

// Offsets are in words, if they say nothing else.
layout(push_constant) uniform Stages {
    uint view_count;
    uint character_count;  // of the table of characters
    uint chunk_count;      // of the table of chunks: its capacity
    uint draw_count;       // of the table of draws: its capacity
    uint actors_at;        // in rows of the table
    uint levels_at;        // in the table: the levels that views had of each instance
    uint listed_at;        // behind the views: a bit for each instance of each list
    uint listed_words;     // of one list
    uint chunks_at;        // character and number of members of each chunk
    uint members_at;       // table indices
    uint characters_at;
    uint draws_at;         // character, bucket, indices and first index of each draw: see GpuDraw
    uint counters_at;      // of each view
    uint triangles_at;     // of each view and factor, as differences: low and high word
    uint choices_at;       // a byte for each member, four views in a word
    uint counts_at;        // of each view, chunk and bucket
    uint starts_at;        // of each view and character: starts of 32 buckets, then their counts
    uint visible_at;       // the lists: as many as there are members, for each view
    uint args_at;          // of each view and draw
    uint looks_at;         // lists of the stage looks
    uint shown_at;         // in the table: see shown.glsl
    uint frame;
    uint last_frame;       // the prepared frame before this one
    uint poses_at;         // of each character; those for the stage skin come next
    uint jobs_at;          // of each member, in the order of chunks: an AnimateJob. Then one index
                           // of each for the stage skin
    uint chunks_end;       // chunks in use
    uint rows_first;       // the rows of the ring for palettes that the stage animate writes
    uint rows_end;
    uint plays_low;        // device address of the play records
    uint plays_high;
    uint now_low;          // ticks
    uint now_high;
};

uint skins_at(const uint character) {
    return poses_at + character_count * POSE_WORDS + character * SKIN_WORDS;
}

uint skinned_at(const uint member) {
    return jobs_at + chunk_count * CHUNK * JOB_WORDS + member;
}

// Where the words of a chunk's poses are: before the totals.
uint posed_at(const uint chunk) {
    uint words = (chunk_count * POSED_WORDS + 3u) & ~3u;
    return counters_at - TOTAL_WORDS - words + chunk * POSED_WORDS;
}

uint start_at(const uint view, const uint character) {
    return starts_at + (view * character_count + character) * (BUCKETS * 2u);
}

uint count_at(const uint view, const uint chunk) {
    return counts_at + (view * chunk_count + chunk) * BUCKETS;
}

uint choice_at(const uint view, const uint member) {
    return choices_at + (view >> 2) * chunk_count * CHUNK + member;
}

// Adds to a number of 64 bits. In the end, the order of additions makes no difference.
void add_64(const uint at, const uint low, const uint high) {
    uint carry;
    uint before = atomicAdd(work[at], low);
    uaddCarry(before, low, carry);
    if (carry + high != 0u) {
        atomicAdd(work[at + 1u], carry + high);
    }
}
