// What the stages of rays share: RayWork (src/crowd/rays/work.rs). Offsets are in words.

// The head, written by the CPU in each frame: the view, the number of records, and the number of
// characters that the table of characters has.
const uint RAY_VIEW = 0u, RAY_COUNT = 1u, RAY_CHARACTERS = 2u;
// Counters: people of the view, those whose pose another one stands in for, those without a
// structure, and those without space for a record.
const uint RAY_PEOPLE = 8u, RAY_STANDING_IN = 9u, RAY_WITHOUT = 10u, RAY_LEFT_OUT = 11u;
// Words before the characters, and of a character: the first of its records, their number, and the
// address of its table.
const uint RAY_HEAD = 16u, RAY_CHARACTER_WORDS = 4u;
// Words of a job of the stage ray_skin, behind the characters: the address of a palette, and the
// first of the vertices that it writes.
const uint RAY_JOB_WORDS = 4u;

layout(set = 1, binding = 0, std430) buffer RayWork { uint ray_work[]; };
