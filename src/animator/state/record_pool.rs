//! Memory of the play records of all actors: one list, in which each actor has a block.

use crate::animator::record::PlayRecord;
use crate::grow::reserve_all;
use bytemuck::Zeroable;

/// The smallest block, in records: one that plays, and one that fades out.
const LEAST: u32 = 2;
/// The most records that an actor can have. Beyond that, the one with the least weight is dropped.
pub(crate) const MOST: u32 = 256;
/// Number of block sizes: 2, 4, 8 … [`MOST`].
const SIZES: usize = (MOST / LEAST).ilog2() as usize + 1;
/// No block.
const NONE: u32 = u32::MAX;

/// An actor's records: a range of the pool, ascending in layer.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Block {
    start: u32,
    len: u16,
    /// The size is `LEAST << (size - 1)` records. 0 means no block.
    size: u8,
}

impl Block {
    fn capacity(self) -> u32 {
        match self.size {
            0 => 0,
            size => LEAST << (size - 1),
        }
    }

    #[cfg(feature = "vulkan")]
    pub(crate) fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// Blocks of records.
///
/// A block that is given back goes to the next actor that asks for its size. So nothing is
/// allocated once there are as many blocks as will ever be needed.
#[derive(Debug, Clone)]
pub(crate) struct RecordPool {
    records: Vec<PlayRecord>,
    /// By size, the start of the block that was given back last, or [`NONE`]. The first record of
    /// each has the start of the next as its anchor.
    free: [u32; SIZES],
    /// The most records that an actor ever had.
    most: u16,
}

impl Default for RecordPool {
    fn default() -> Self {
        Self {
            records: Vec::new(),
            free: [NONE; SIZES],
            most: 0,
        }
    }
}

impl RecordPool {
    /// Reserves memory for the smallest block of each of `actors` actors.
    pub(crate) fn reserve(&mut self, actors: usize) {
        reserve_all(&mut self.records, actors * LEAST as usize);
    }

    /// The most records that an actor ever had.
    pub(crate) fn most(&self) -> usize {
        self.most.into()
    }

    pub(crate) fn get(&self, block: Block) -> &[PlayRecord] {
        let start = block.start as usize;
        self.records
            .get(start..start + usize::from(block.len))
            .unwrap_or(&[])
    }

    pub(crate) fn get_mut(&mut self, block: Block) -> &mut [PlayRecord] {
        let start = block.start as usize;
        self.records
            .get_mut(start..start + usize::from(block.len))
            .unwrap_or(&mut [])
    }

    /// Adds a record after those of its layer.
    ///
    /// If the actor already has the maximum number, the record with the lowest final weight is
    /// dropped; of equal ones, that with the lowest weight at `now_s`.
    pub(crate) fn push(&mut self, block: &mut Block, record: PlayRecord, now_s: f64) {
        let records = self.get(*block);
        let at = records.partition_point(|other| other.layer <= record.layer);
        self.insert(block, at, record, now_s);
    }

    /// Adds a record at an index, or as near to it as the order of layers allows.
    ///
    /// If the actor already has the maximum number, one is dropped as in [`Self::push`].
    pub(crate) fn insert(&mut self, block: &mut Block, at: usize, record: PlayRecord, now_s: f64) {
        if u32::from(block.len) == MOST {
            self.drop_least(block, now_s);
        }
        if u32::from(block.len) == block.capacity() {
            self.grow(block);
        }
        let records = self.get(*block);
        let first = records.partition_point(|other| other.layer < record.layer);
        let behind = records.partition_point(|other| other.layer <= record.layer);
        let at = at.clamp(first, behind);
        block.len += 1;
        self.most = self.most.max(block.len);
        let records = self.get_mut(*block);
        let last = records.len() - 1;
        records.copy_within(at..last, at + 1);
        records[at] = record;
    }

    fn drop_least(&mut self, block: &mut Block, now_s: f64) {
        let key = |record: &PlayRecord| (record.to_weight, record.weight_at(now_s));
        let records = self.get(*block).iter().enumerate();
        let least = records.min_by(|(_, a), (_, b)| {
            let ((a_to, a_now), (b_to, b_now)) = (key(a), key(b));
            a_to.total_cmp(&b_to).then(a_now.total_cmp(&b_now))
        });
        if let Some((least, _)) = least {
            let mut number = 0;
            self.retain(block, |_| {
                number += 1;
                number - 1 != least
            });
        }
    }

    /// Replaces an actor's records. There are at most [`MOST`].
    pub(crate) fn set(&mut self, block: &mut Block, records: &[PlayRecord]) {
        block.len = 0;
        while (block.capacity() as usize) < records.len() {
            self.grow(block);
        }
        block.len = records.len() as u16;
        self.most = self.most.max(block.len);
        self.get_mut(*block).copy_from_slice(records);
    }

    /// Moves the records into a block of twice the size.
    fn grow(&mut self, block: &mut Block) {
        let size = block.size + 1;
        let start = self.take(size);
        let (from, to) = (block.start as usize, start as usize);
        self.records
            .copy_within(from..from + usize::from(block.len), to);
        self.give_back(*block);
        (block.start, block.size) = (start, size);
    }

    /// Takes a block that was given back, or a new one. Returns its start.
    fn take(&mut self, size: u8) -> u32 {
        if let Some(free) = self.free.get_mut(usize::from(size) - 1)
            && let Some(first) = self.records.get(*free as usize)
        {
            return core::mem::replace(free, first.anchor_s as u32);
        }
        let start = self.records.len();
        let end = start + (LEAST << (size - 1)) as usize;
        if end > self.records.capacity() {
            // Most actors have a block already.
            reserve_all(&mut self.records, end + end / 8);
        }
        self.records.resize(end, PlayRecord::zeroed());
        start as u32
    }

    fn give_back(&mut self, block: Block) {
        let size = usize::from(block.size).checked_sub(1);
        let free = size.and_then(|size| self.free.get_mut(size));
        if let (Some(free), Some(first)) = (free, self.records.get_mut(block.start as usize)) {
            first.anchor_s = f64::from(core::mem::replace(free, block.start));
        }
    }

    /// Keeps the records for which `keep` returns true, in their order.
    pub(crate) fn retain(&mut self, block: &mut Block, mut keep: impl FnMut(&PlayRecord) -> bool) {
        let records = self.get_mut(*block);
        let mut kept = 0;
        for index in 0..records.len() {
            if keep(&records[index]) {
                if kept < index {
                    records[kept] = records[index];
                }
                kept += 1;
            }
        }
        block.len = kept as u16;
    }

    /// Frees the actor's block, for use by other actors.
    pub(crate) fn release(&mut self, block: &mut Block) {
        self.give_back(*block);
        *block = Block::default();
    }
}
