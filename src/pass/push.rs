//! The push constants of the stages, with the names that the shaders have for them.
//!
//! `tests/gpu/layout.rs` compares them with the compiled shaders.

use bytemuck::{Pod, Zeroable};

/// The stage scatter.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct ScatterPush {
    /// The number of changes.
    pub(crate) change_count: u32,
    /// The number of transforms behind them.
    pub(crate) moved_count: u32,
    /// The start of the actors in the table, in rows of 16 bytes.
    pub(crate) actors_at: u32,
    /// The start of the levels in the table, in words.
    pub(crate) levels_at: u32,
    /// The start of the counters of `shown.glsl` in the table, in words.
    pub(crate) shown_at: u32,
    /// The start of the spheres in character space in the table, in rows of 16 bytes.
    pub(crate) spheres_at: u32,
}

/// The stage shift.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct ShiftPush {
    /// The offset of the origin, and 0.
    pub(crate) offset: [f32; 4],
    /// The remainder of the offset after rounding, and 0.
    pub(crate) rest: [f32; 4],
    /// The number of records of the table.
    pub(crate) count: u32,
    /// The start of the actors in the table, in rows of 16 bytes.
    pub(crate) actors_at: u32,
    /// The start of the spheres in character space in the table, in rows of 16 bytes, or 0 if there
    /// are no actors.
    pub(crate) spheres_at: u32,
}

/// The stages from cull to args: starts and numbers of everything in the work buffer.
///
/// `shaders/include/stages.glsl` documents the fields.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct CullPush {
    pub(crate) view_count: u32,
    pub(crate) character_count: u32,
    pub(crate) chunk_count: u32,
    pub(crate) draw_count: u32,
    pub(crate) actors_at: u32,
    pub(crate) levels_at: u32,
    pub(crate) listed_at: u32,
    pub(crate) listed_words: u32,
    pub(crate) chunks_at: u32,
    pub(crate) members_at: u32,
    pub(crate) characters_at: u32,
    pub(crate) draws_at: u32,
    pub(crate) counters_at: u32,
    pub(crate) triangles_at: u32,
    pub(crate) choices_at: u32,
    pub(crate) counts_at: u32,
    pub(crate) starts_at: u32,
    pub(crate) visible_at: u32,
    pub(crate) args_at: u32,
    pub(crate) looks_at: u32,
    pub(crate) shown_at: u32,
    pub(crate) frame: u32,
    pub(crate) last_frame: u32,
    pub(crate) poses_at: u32,
    pub(crate) jobs_at: u32,
    pub(crate) chunks_end: u32,
    pub(crate) rows_first: u32,
    pub(crate) rows_end: u32,
    pub(crate) plays_low: u32,
    pub(crate) plays_high: u32,
    pub(crate) now_low: u32,
    pub(crate) now_high: u32,
}

/// The stage pyramid. Its shader documents the fields.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct PyramidPush {
    pub(crate) first: [u32; 2],
    pub(crate) end: [u32; 2],
    pub(crate) size: [u32; 2],
    pub(crate) start: u32,
    pub(crate) levels: u32,
    pub(crate) shift: u32,
    pub(crate) toward: f32,
    pub(crate) samples: u32,
}

/// The stage attach.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct AttachPush {
    /// Device address of the play records.
    pub(crate) plays: u64,
    pub(crate) now: [u32; 2],
    /// The start of the actors in the table, in rows of 16 bytes.
    pub(crate) actors_at: u32,
    /// The start of the attachments in the work buffer, in rows of 16 bytes.
    pub(crate) attachments_at: u32,
    pub(crate) count: u32,
    pub(crate) level: u32,
    /// The start of the spheres in character space in the table, in rows of 16 bytes.
    pub(crate) spheres_at: u32,
    /// Zero.
    pub(crate) reserved: u32,
}

/// The stage animate. Its shader documents the fields.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub(crate) struct AnimatePush {
    pub(crate) tables: u64,
    pub(crate) plays: u64,
    pub(crate) jobs: u64,
    pub(crate) palettes: u64,
    pub(crate) morphs: u64,
    pub(crate) own_weights: u64,
    pub(crate) counted: u64,
    pub(crate) now: [u32; 2],
    pub(crate) most: u32,
    pub(crate) still_clip: u32,
}

/// The stage skin.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct SkinPush {
    /// The first instance in the list.
    pub(crate) first_listed: u32,
    /// The first word of the chunks in the mesh buffer.
    pub(crate) chunks: u32,
    /// Device address of the palettes in the ring.
    pub(crate) ring_palettes: u64,
}

/// The stage ray_skin.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct RaySkinPush {
    /// Device address of the chunks.
    pub(crate) chunks: [u32; 2],
    /// The first word of the jobs.
    pub(crate) jobs: u32,
}

/// A draw (`shaders/include/draw.glsl`).
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub(crate) struct DrawPush {
    /// The primitive's index.
    pub(crate) primitive: u32,
    /// The instances that the draw is for, see `throng_faces`.
    pub(crate) flip: u32,
    pub(crate) level: u32,
    /// The index of the start of its list, in the lists as shaders see them.
    pub(crate) list: u32,
}

// Every device has 128 bytes.
const _: () = assert!(size_of::<CullPush>() <= 128 && size_of::<AnimatePush>() <= 128);
