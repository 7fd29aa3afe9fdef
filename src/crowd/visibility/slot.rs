//! The place of a character in the GPU's tables of characters, chunks and draws.

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
    /// The chunks, counted from its first one, whose members changed. Each once.
    pub(crate) changed: Vec<u32>,
    pub(crate) is_changed: Vec<bool>,
    /// True if its character and all draws and chunks must be uploaded.
    pub(crate) is_new: bool,
    /// True if the last frame uploaded something.
    pub(crate) was_changed: bool,
}

impl Slot {
    /// The first of its chunks.
    pub(crate) fn first_chunk(&self) -> u32 {
        self.chunks.0
    }

    /// Notes that the member at an index was added, removed or replaced.
    pub(crate) fn note(&mut self, member: u32) {
        let chunk = member / CHUNK as u32;
        if self.is_changed.len() <= chunk as usize {
            self.is_changed.resize(chunk as usize + 1, false);
        }
        if let Some(is_changed) = self.is_changed.get_mut(chunk as usize)
            && !core::mem::replace(is_changed, true)
        {
            self.changed.push(chunk);
        }
    }

    /// Notes that everything must be uploaded.
    pub(crate) fn note_all(&mut self) {
        self.is_new = true;
    }

    pub(crate) fn mark_uploaded(&mut self) {
        self.was_changed = self.is_new || !self.changed.is_empty();
        self.is_new = false;
        for chunk in self.changed.drain(..) {
            if let Some(is_changed) = self.is_changed.get_mut(chunk as usize) {
                *is_changed = false;
            }
        }
    }

    /// Reserves memory for this many members.
    pub(crate) fn reserve(&mut self, members: usize) {
        let chunks = members.div_ceil(CHUNK);
        self.changed
            .reserve(chunks.saturating_sub(self.changed.len()));
        if self.is_changed.len() < chunks {
            self.is_changed.resize(chunks, false);
        }
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
