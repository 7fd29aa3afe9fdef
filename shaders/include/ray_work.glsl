// The buffer that the stages of rays share: see src/crowd/rays/buffers.rs. Offsets are in words.

// The head, written by the CPU in each frame: the view, the number of records, the number of
// characters that the table of characters has, a word for each instance, the address of the frame's
// palettes in the ring, and that of the view.
const uint RAY_VIEW = 0u, RAY_COUNT = 1u, RAY_CHARACTERS = 2u, RAY_CHOSEN = 3u, RAY_RING = 4u;
const uint RAY_VIEW_ADDRESS = 6u;
// Counters: people of the view, those whom rays meet in another pose than the picture's, those
// without a structure, those without space for a record, and those with a structure of their own.
const uint RAY_PEOPLE = 8u, RAY_APPROXIMATED = 9u, RAY_WITHOUT = 10u, RAY_LEFT_OUT = 11u;
const uint RAY_OWN = 12u;
// The people of each character who want slots: as many words as it has members.
const uint RAY_CANDIDATES = 13u;
// Words before the characters, and of a character: the first of its records, their number, the
// address of its table, the first job of its slots, the first vertex of these, the slots that may
// be taken (low half) and that have jobs (high half), and the people that want one.
const uint RAY_HEAD = 16u, RAY_CHARACTER_WORDS = 8u;
const uint RAY_START = 0u, RAY_TOTAL = 1u, RAY_TABLE = 2u, RAY_JOBS = 4u, RAY_VERTICES = 5u;
const uint RAY_SLOTS = 6u, RAY_WANTING = 7u;
// Words of a job of the stage ray_skin: the address of a palette, the first of the vertices that it
// writes, and the first word of active morph weights, or NO_ADDRESS.
const uint RAY_JOB_WORDS = 4u;
const uint NO_ADDRESS = 0xFFFFFFFFu;

layout(set = 1, binding = 0, std430) buffer RayWork { uint ray_work[]; };
