//! The constants that shaders use, too, under the same names.
//!
//! `tests/gpu/constants.rs` compares this file with the GLSL. Values are plain numbers, so that it
//! can read them.

/// Members of a chunk, all of them instances of one character, and instances that the CPU tests
/// together.
pub(crate) const CHUNK: usize = 64;
/// The largest number of levels of detail that instances are drawn at, with the full one.
pub(crate) const MAX_LEVELS: usize = 8;
/// Buckets of a list: instances that are drawn alike.
pub(crate) const BUCKETS: usize = 32;
/// Views whose levels of detail are remembered from frame to frame.
pub(crate) const REMEMBERED: usize = 10;
/// Bits of a remembered level.
pub(crate) const LEVEL_BITS: usize = 3;
/// The factors by which a view may allow more error, to keep to its number of triangles, are powers
/// of the fourth root of 2, up to this.
pub(crate) const FACTORS: u32 = 40;
/// 1 over the fourth root of 2.
pub(crate) const INVERSE_FACTOR: f32 = 0.840_896_4;

/// Words of a chunk's record: its character, and the number of its members.
pub(crate) const CHUNK_WORDS: u32 = 2;
/// Words of a character's record.
pub(crate) const CHARACTER_WORDS: u32 = 40;
/// The word of a character with the place of its lists of the stage looks.
pub(crate) const CHARACTER_LOOKS: u32 = 32;
/// Draws in a row of workgroups of the stage looks.
pub(crate) const LOOKS_ROW: u32 = 32_768;
/// Words of a draw's record: [`GpuDraw`](crate::gpu::layout::GpuDraw).
pub(crate) const DRAW_WORDS: u32 = 8;
/// Words of a draw's arguments: `VkDrawIndexedIndirectCommand`, and the start of its list.
pub(crate) const ARGS_WORDS: u32 = 6;
/// The word of the latter.
pub(crate) const ARGS_START: u32 = 5;
/// Words of an [`AnimateJob`](crate::gpu::AnimateJob).
pub(crate) const JOB_WORDS: u32 = 4;
/// Words of a chunk, for the poses of its members.
pub(crate) const POSED_WORDS: u32 = 2;
/// Words of a character's poses: `VkDispatchIndirectCommand`, and the number of jobs.
pub(crate) const POSE_WORDS: u32 = 4;
/// The most dispatches of the stage skin for a character.
pub(crate) const SKINS: usize = 8;
/// Words for the stage skin of a character: the number of instances, and a
/// `VkDispatchIndirectCommand` for each dispatch.
pub(crate) const SKIN_WORDS: u32 = 28;
/// Words of a view's counters.
pub(crate) const COUNTER_WORDS: u32 = 16;
/// The words of a view's counters from which those of levels, of triangles (low and high word), and
/// of the power of the factor start. Before them are those outside and those too small.
pub(crate) const COUNT_LEVELS: usize = 2;
pub(crate) const COUNT_TRIANGLES: usize = 10;
pub(crate) const COUNT_FACTOR: usize = 12;
/// The word of those that are hidden.
pub(crate) const COUNT_HIDDEN: usize = 13;
/// The word of those that a reveal added.
pub(crate) const COUNT_LATE: usize = 14;
/// Words of a chunk and a late view: a bit for each member that was seen, and that was hidden.
pub(crate) const SEEN_WORDS: u32 = 4;
/// Words of the counters of all views together.
pub(crate) const TOTAL_WORDS: u32 = 16;
/// Words of what `shown.glsl` has of an instance.
pub(crate) const SHOWN_WORDS: u32 = 2;

/// Words of the head of what the stages of rays share, and of a character behind it.
pub(crate) const RAY_HEAD: usize = 16;
pub(crate) const RAY_CHARACTER_WORDS: usize = 8;
/// The first of the counters in that head: people.
pub(crate) const RAY_PEOPLE: usize = 8;
/// The word of that head with the place of people who want slots.
pub(crate) const RAY_CANDIDATES: usize = 13;
/// The word of a character with the people who want slots.
pub(crate) const RAY_WANTING: usize = 7;
/// Words of a job of the stage ray_skin.
pub(crate) const RAY_JOB_WORDS: usize = 4;
/// Words of a character's table for rays before the addresses of structures.
pub(crate) const TABLE_ADDRESSES: usize = 16;

/// Invocations of a workgroup of the stage args.
pub(crate) const ARGS_WORKGROUP: u32 = 64;
/// Instances of a workgroup of the stage attach.
pub(crate) const ATTACH_WORKGROUP: u32 = 4;
/// Workgroups in a row of a dispatch of the stages attach and animate.
pub(crate) const ROW_GROUPS: u32 = 32_768;

/// The most clips that shaders blend.
pub(crate) const PLAYS: u32 = 8;
/// Less weight than this on the lowest layer leaves the rest pose visible.
pub(crate) const FULL_WEIGHT: f32 = 0.999;
/// The mask of all joints.
pub(crate) const NO_MASK: u16 = 0xFFFF;
/// Modes of a play.
pub(crate) const MODE_LOOP: u8 = 0;
pub(crate) const MODE_ONCE: u8 = 1;
pub(crate) const MODE_PING_PONG: u8 = 2;
pub(crate) const MODE_STILL: u8 = 3;
/// Rows of the header of a clip.
pub(crate) const CLIP_ROWS: u32 = 3;
/// The parent of a joint that has none.
pub(crate) const NO_PARENT: u32 = 0xFFFF_FFFF;
/// Kinds of tracks: the same value in every frame, keys in frames, and a curve.
pub(crate) const TRACK_CONSTANT: u32 = 1;
pub(crate) const TRACK_MOVES: u32 = 2;
pub(crate) const TRACK_CURVE: u32 = 3;
/// Interpolations of a curve.
pub(crate) const CURVE_STEP: u32 = 0;
pub(crate) const CURVE_CUBIC: u32 = 2;
/// The flag of an additive clip.
pub(crate) const ADDITIVE: u32 = 256;
/// The flag of a clip that drives morph weights.
pub(crate) const DRIVES: u32 = 512;
/// The flag of a morph weight of the caller's that replaces what clips give. Others are added.
pub(crate) const REPLACES: u32 = 0x8000_0000;
