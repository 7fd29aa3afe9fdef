//! The attached instances that the GPU places, and which of their records it lacks.

use crate::crowd::memory::buffers::FrameWriter;
use crate::crowd::memory::range_allocator::RangeAllocator;
use crate::crowd::memory::work::{ATTACHMENT_WORDS, WorkLayout};
use crate::crowd::pending::Pending;
use crate::crowd::table::Table;
use crate::error::Result;
use crate::gpu::layout::GpuAttachment;
use crate::grow::reserve_all;
use bytemuck::Zeroable;

/// The number of attachments at each level.
pub(crate) type Levels = [u32; GpuAttachment::LEVELS as usize];

/// The attached instances that the GPU places, each in a slot.
#[derive(Debug, Default)]
pub(crate) struct GpuAttachments {
    /// By slot. Those at level 0 are free.
    records: Table<GpuAttachment>,
    slots: RangeAllocator,
    levels: Levels,
    /// The slots whose records changed.
    pub(crate) changed: Pending,
    /// The edit count of animators and the time for which the CPU knows where the instances are.
    known_at: Option<(u64, f64)>,
}

impl GpuAttachments {
    /// Grows to `slots` slots, so that frames allocate nothing.
    pub(crate) fn grow(&mut self, slots: u32) {
        self.slots.grow(slots);
        let all = slots as usize;
        self.slots.reserve(1, all);
        self.changed.grow(all);
        if self.records.len() < all {
            reserve_all(&mut self.records, all);
            self.records.resize(all, GpuAttachment::zeroed());
        }
    }

    /// The number of instances that the GPU places.
    pub(crate) fn count(&self) -> u32 {
        self.slots.used()
    }

    /// One past the last slot that has been in use, and the number of attachments at each level.
    pub(crate) fn in_use(&self) -> (u32, Levels) {
        (self.slots.end(), self.levels)
    }

    /// The level of the instance in a slot.
    pub(crate) fn level(&self, slot: u32) -> u32 {
        self.records[slot].level
    }

    /// The instances that the GPU places, parents before their children.
    pub(crate) fn placed(&self) -> impl Iterator<Item = u32> + '_ {
        (1..=GpuAttachment::LEVELS).flat_map(|level| {
            let records = self.records.iter();
            let own = records.filter(move |record| record.level == level);
            own.map(|record| record.child)
        })
    }

    /// Returns true if the CPU does not know where they are, which it does from now on: after these
    /// edits of animators, and at this time.
    pub(crate) fn are_new(&mut self, edits: u64, time_s: f64) -> bool {
        let now = Some((edits, time_s));
        core::mem::replace(&mut self.known_at, now) != now
    }

    /// A slot that is free, if there is one.
    pub(crate) fn take(&mut self) -> Option<u32> {
        self.slots.allocate(1)
    }

    /// Writes the record of a slot.
    pub(crate) fn put(&mut self, slot: u32, record: &GpuAttachment) {
        let before = core::mem::replace(&mut self.records[slot], *record);
        if before != *record {
            self.changed.add(slot);
            self.known_at = None;
        }
        for (level, change) in [(before.level, u32::MAX), (record.level, 1)] {
            let at = level.wrapping_sub(1) as usize;
            if let Some(count) = self.levels.get_mut(at) {
                *count = count.wrapping_add(change);
            }
        }
    }

    /// Frees a slot.
    pub(crate) fn free(&mut self, slot: u32) {
        self.put(slot, &GpuAttachment::zeroed());
        self.slots.free(slot, 1);
    }

    /// Frees all slots.
    pub(crate) fn clear(&mut self) {
        for slot in 0..self.slots.end() {
            self.put(slot, &GpuAttachment::zeroed());
        }
        self.slots.clear();
    }

    /// Uploads the records that changed.
    ///
    /// # Errors
    /// [`Error::Capacity`](crate::Error::Capacity) if there is no space in this frame.
    pub(crate) fn upload(&self, layout: &WorkLayout, to: &mut FrameWriter<'_>) -> Result<()> {
        for slot in self.changed.list() {
            let words: &[u32] = bytemuck::cast_slice(bytemuck::bytes_of(&self.records[*slot]));
            let at = layout.attachments + slot * ATTACHMENT_WORDS;
            to.patch(at, words.len(), words.iter().copied())?;
        }
        Ok(())
    }
}
