//! Chunks: the members of characters as the GPU's cull stage has them, 64 in a chunk, each chunk of
//! one character.
//!
//! A character's chunks are contiguous. When its members outgrow them, it gets up to a quarter more
//! elsewhere, or all characters move together, and share what is spare. The CPU notes which chunks
//! changed, and the next frame uploads those.

use crate::crowd::memory::range_allocator::RangeAllocator;
use crate::crowd::memory::work::WorkLayout;
use crate::crowd::pending::{Marked, Pending};
use crate::gpu::constants::{CHUNK, MAX_LEVELS};

/// Draws of a primitive in the table of draws: for instances that are flipped or not, and whose
/// looks vary or not.
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
    pub(super) changed: Marked,
    /// The place of its lists of the stage looks: start, length of a list, and number of lists.
    pub(super) looks: [u32; 3],
    /// True if that must be uploaded.
    pub(super) looks_changed: bool,
    /// True if its character and all draws and chunks must be uploaded.
    pub(crate) is_new: bool,
    /// True if the last frame uploaded something.
    was_changed: bool,
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
        let looks = core::mem::take(&mut self.looks_changed);
        self.was_changed =
            core::mem::take(&mut self.is_new) || looks || !self.changed.list().is_empty();
        self.changed.clear();
    }

    pub(super) fn mark_lost(&mut self) {
        self.is_new |= core::mem::take(&mut self.was_changed);
    }

    /// Reserves memory for this many members.
    pub(super) fn reserve(&mut self, members: usize) {
        self.changed.grow(members.div_ceil(CHUNK));
    }
}

/// The number of a draw among those of its character. `at` is that of the primitive's draw, counted
/// over all levels.
pub(crate) fn draw_of_kind(at: u32, flipped: bool, varies: bool) -> u32 {
    at * KINDS + u32::from(flipped) * 2 + u32::from(varies)
}

/// The number of a bucket.
pub(crate) fn bucket(flipped: bool, level: usize, varies: bool) -> u32 {
    (u32::from(flipped) * MAX_LEVELS as u32 + level as u32) * 2 + u32::from(varies)
}

/// Numbers of characters, and ranges of chunks and draws.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    /// Numbers that no character has any more.
    free: Vec<u32>,
    next: u32,
    ranges: RangeAllocator,
    draws: RangeAllocator,
    /// Chunks that characters gave back. Their records are cleared, unless a character has them.
    pub(super) left: Pending,
    /// Numbers that characters gave back.
    pub(super) left_numbers: Pending,
    /// One past the last chunk that a frame has uploaded.
    uploaded: u32,
}

impl Chunks {
    /// Grows to the capacity of a work buffer.
    pub(crate) fn grow(&mut self, layout: &WorkLayout) {
        self.ranges.grow(layout.push.chunk_count);
        self.draws.grow(layout.push.draw_count);
        // Frames allocate nothing.
        self.left.grow(layout.push.chunk_count as usize);
        self.left_numbers.grow(layout.push.character_count as usize);
    }

    /// Chunks, characters and draws in use.
    pub(crate) fn ends(&self) -> [u32; 3] {
        [self.ranges.end(), self.next, self.draws.end()]
    }

    /// The chunks that a frame has uploaded: those that growth copies.
    pub(crate) fn copied(&self) -> u32 {
        self.uploaded
    }

    /// The numbers of characters and draws that the work buffer needs for one more character.
    ///
    /// `draws` is the length of its range of draws.
    pub(crate) fn need(&self, draws: u32) -> [u32; 2] {
        let characters = self.next + u32::from(self.free.is_empty());
        let draws = draws.saturating_add(self.draws.end());
        [characters, draws]
    }

    /// Gives a character its place. The caller has checked [`Self::need`].
    pub(crate) fn add(&mut self, draws: u32) -> Slot {
        let number = self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        });
        Slot {
            number,
            draws: (self.draws.allocate(draws).unwrap_or(0), draws),
            is_new: true,
            ..Slot::default()
        }
    }

    /// Takes a character's place back.
    pub(crate) fn remove(&mut self, slot: &Slot) {
        self.free.push(slot.number);
        self.left_numbers.add(slot.number);
        self.draws.free(slot.draws.0, slot.draws.1);
        self.release(slot.chunks);
    }

    fn release(&mut self, (first, count): (u32, u32)) {
        self.ranges.free(first, count);
        (first..first + count).for_each(|chunk| self.left.add(chunk));
    }

    /// Gives a character enough chunks. Returns false if there is no such range.
    pub(super) fn fit(&mut self, slot: &mut Slot, members: usize) -> bool {
        let need = members.div_ceil(CHUNK) as u32;
        if need <= slot.chunks.1 {
            return true;
        }
        self.release(core::mem::take(&mut slot.chunks));
        slot.is_new = true;
        // Four sizes between a power of two and the next one, so that ranges are taken again.
        let count = need.next_multiple_of((need.next_power_of_two() / 8).max(1));
        let start = self.ranges.allocate(count);
        slot.chunks = start.map_or((0, 0), |start| (start, count));
        start.is_some()
    }

    /// Takes the chunks of all characters back. Returns the number of chunks that there are.
    pub(super) fn clear(&mut self) -> u32 {
        (0..self.ranges.end()).for_each(|chunk| self.left.add(chunk));
        self.ranges.clear();
        self.ranges.capacity()
    }

    /// Gives a character so many chunks, after [`Self::clear`]. There are enough.
    pub(super) fn fill(&mut self, slot: &mut Slot, count: u32) {
        slot.chunks = (self.ranges.allocate(count).unwrap_or(0), count);
        slot.is_new = true;
    }

    pub(super) fn mark_uploaded(&mut self) {
        self.left.mark_uploaded();
        self.left_numbers.mark_uploaded();
        self.uploaded = self.ranges.end();
    }

    pub(super) fn mark_lost(&mut self) {
        self.left.mark_lost();
        self.left_numbers.mark_lost();
    }
}
