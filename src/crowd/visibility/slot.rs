//! The place of a character in the GPU's tables of characters, chunks and draws.

use crate::crowd::pending::Pending;
use crate::gpu::constants::{CHUNK, MAX_LEVELS};

/// Draws of a primitive in the table of draws: for instances that are flipped or not, and that hide
/// parts or not.
pub(crate) const KINDS: u32 = 4;

/// The place of a character whose instances the GPU culls.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slot {
    /// Its number in the GPU's table of characters.
    pub(crate) number: u32,
    /// The first of its draws in the GPU's table, and their number.
    pub(crate) draws: (u32, u32),
    /// The first of its chunks, and their number.
    pub(crate) chunks: (u32, u32),
    /// The chunks, counted from its first one, whose members changed.
    pub(super) changed: Pending,
    /// True if its character and all draws and chunks must be uploaded.
    pub(crate) is_new: bool,
    /// `is_new` before the last upload.
    pub(super) was_new: bool,
}

impl Slot {
    /// The first of its chunks.
    pub(crate) fn first_chunk(&self) -> u32 {
        self.chunks.0
    }

    /// Notes that the member at an index was added, removed or replaced.
    pub(crate) fn note(&mut self, member: u32) {
        self.changed.add(member / CHUNK as u32);
    }

    pub(super) fn mark_uploaded(&mut self) {
        self.was_new = core::mem::take(&mut self.is_new);
        self.changed.mark_uploaded();
    }

    pub(super) fn mark_lost(&mut self) {
        self.is_new |= self.was_new;
        self.changed.mark_lost();
    }

    /// Reserves memory for this many members.
    pub(super) fn reserve(&mut self, members: usize) {
        self.changed.grow(members.div_ceil(CHUNK));
    }
}

/// The number of a draw among those of its character. `at` is that of the primitive's draw, counted
/// over all levels.
pub(crate) fn draw_of_kind(at: u32, flipped: bool, hides: bool) -> u32 {
    at * KINDS + u32::from(flipped) * 2 + u32::from(hides)
}

/// The number of a bucket.
pub(crate) fn bucket(flipped: bool, level: usize, hides: bool) -> u32 {
    (u32::from(flipped) * MAX_LEVELS as u32 + level as u32) * 2 + u32::from(hides)
}
