//! The layers of an actor: the clips, blend spaces and fades that it plays.

use super::blend::BlendPlay;
use crate::animator::library::Library;
use crate::animator::play::Playing;
use crate::animator::record::PlayRecord;
use crate::grow::reserve_all;
use crate::id::Id;

/// The layers of an actor: blocks of the shared [`Pools`].
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Layers {
    /// Ascending in layer.
    pub(super) records: Block,
    /// In the order in which they were played.
    pub(super) blends: Block,
}

/// The memory of the layers of all actors.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pools {
    pub(super) records: Pool<PlayRecord>,
    pub(super) blends: Pool<BlendPlay>,
}

impl Pools {
    /// Reserves memory for two records of each of this many actors.
    pub(crate) fn reserve(&mut self, actors: usize) {
        self.records.reserve(actors);
    }

    /// Reserves memory for two blend spaces of each of this many actors: one that plays, and one
    /// that fades out.
    pub(crate) fn reserve_blends(&mut self, actors: usize) {
        self.blends.reserve(actors);
    }

    /// The most records that an actor ever had.
    pub(crate) fn most_records(&self) -> usize {
        self.records.most()
    }
}

impl Layers {
    /// Returns true if nothing plays.
    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The play records, ascending in layer.
    #[inline]
    pub(crate) fn records<'a>(&self, pools: &'a Pools) -> &'a [PlayRecord] {
        pools.records.get(self.records)
    }

    /// The blend spaces, in the order in which they were played.
    pub(crate) fn blends<'a>(&self, pools: &'a Pools) -> &'a [BlendPlay] {
        pools.blends.get(self.blends)
    }

    /// Replaces everything that plays by data that was checked.
    pub(crate) fn set(&mut self, pools: &mut Pools, records: &[PlayRecord], blends: &[BlendPlay]) {
        pools.records.set(&mut self.records, records);
        pools.blends.set(&mut self.blends, blends);
    }

    /// Gives the memory back.
    pub(crate) fn release(&mut self, pools: &mut Pools) {
        pools.records.release(&mut self.records);
        pools.blends.release(&mut self.blends);
    }

    /// Lists what plays at `local_s`.
    pub(crate) fn playing<'a>(
        self,
        library: &'a Library,
        pools: &'a Pools,
        local_s: f64,
    ) -> impl Iterator<Item = Playing> + use<'a> {
        let records = self.records(pools).iter();
        let records = records.filter(move |record| !record.is_over(local_s));
        let space = move |number: u8| {
            let play = self.blend(pools, number);
            play.map(|play| Id::new(play.space))
        };
        records.map(move |record| Playing {
            clip: (!record.has(PlayRecord::FLAG_POSE)).then_some(Id::new(record.clip)),
            blend_space: space(record.blend()),
            layer: record.layer,
            mask: record.mask(),
            time_s: record.clip_time_s(local_s, library.duration_s(record.clip)),
            speed: record.speed_at(local_s),
            weight: record.weight_at(local_s),
            to_weight: record.to_weight,
            loop_mode: record.loop_mode(),
            synced: record.has(PlayRecord::FLAG_SYNCED),
            by_state_machine: record.has(PlayRecord::FLAG_STATE_MACHINE),
        })
    }

    pub(super) fn blend(self, pools: &Pools, number: u8) -> Option<&BlendPlay> {
        let mut blends = self.blends(pools).iter();
        blends.find(|play| play.number == number)
    }

    /// The blend space that plays on a layer and is not fading out.
    pub(crate) fn blend_on<'a>(&self, pools: &'a Pools, layer: u8) -> Option<&'a BlendPlay> {
        let on_layer = |play: &&BlendPlay| play.is_on(layer);
        self.blends(pools).iter().rfind(on_layer)
    }
}

/// The smallest block: one element that plays, and one that fades out.
const LEAST: usize = 2;
/// The most elements of a block.
pub(crate) const MOST: usize = 256;
/// Number of block sizes: 2, 4, 8 … [`MOST`].
const SIZES: usize = (MOST / LEAST).ilog2() as usize + 1;

/// A range of a pool with one owner.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Block {
    start: u32,
    len: u16,
    /// The size is `LEAST << (size - 1)` elements. 0 means no block.
    size: u8,
}

impl Block {
    fn capacity(self) -> usize {
        match self.size {
            0 => 0,
            size => LEAST << (size - 1),
        }
    }

    pub(crate) fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// Blocks of elements.
///
/// A block that is given back goes to the next owner that asks for its size. So nothing is
/// allocated once there are as many blocks as will ever be needed.
#[derive(Debug, Clone)]
pub(crate) struct Pool<T> {
    list: Vec<T>,
    /// By size, the starts of the blocks that were given back, with memory for all that exist.
    free: [Vec<u32>; SIZES],
    /// By size, the number of blocks that exist.
    made: [usize; SIZES],
    /// The most elements that a block ever had.
    most: u16,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self {
            list: Vec::new(),
            free: Default::default(),
            made: [0; SIZES],
            most: 0,
        }
    }
}

impl<T: Copy> Pool<T> {
    /// Reserves memory for this many of the smallest blocks.
    pub(crate) fn reserve(&mut self, blocks: usize) {
        reserve_all(&mut self.list, blocks * LEAST);
        reserve_all(&mut self.free[0], blocks);
    }

    /// The most elements that a block ever had.
    pub(crate) fn most(&self) -> usize {
        self.most.into()
    }

    #[inline]
    pub(crate) fn get(&self, block: Block) -> &[T] {
        let start = block.start as usize;
        let elements = self.list.get(start..start + usize::from(block.len));
        elements.unwrap_or(&[])
    }

    pub(crate) fn get_mut(&mut self, block: Block) -> &mut [T] {
        let start = block.start as usize;
        let elements = self.list.get_mut(start..start + usize::from(block.len));
        elements.unwrap_or(&mut [])
    }

    /// Adds an element at an index. The block has less than [`MOST`].
    pub(crate) fn insert(&mut self, block: &mut Block, at: usize, element: T) {
        let len = usize::from(block.len);
        if len == block.capacity() {
            self.grow(block, element);
        }
        self.set_len(block, len + 1);
        let elements = self.get_mut(*block);
        elements.copy_within(at..len, at + 1);
        elements[at] = element;
    }

    /// Replaces all elements. There are at most [`MOST`].
    pub(crate) fn set(&mut self, block: &mut Block, elements: &[T]) {
        block.len = 0;
        while let [first, ..] = elements
            && block.capacity() < elements.len()
        {
            self.grow(block, *first);
        }
        self.set_len(block, elements.len());
        self.get_mut(*block).copy_from_slice(elements);
    }

    fn set_len(&mut self, block: &mut Block, len: usize) {
        block.len = len as u16;
        self.most = self.most.max(block.len);
    }

    /// Moves the elements into a block of twice the size. `filler` fills new memory.
    fn grow(&mut self, block: &mut Block, filler: T) {
        let size = usize::from(block.size);
        let start = self.free[size].pop().unwrap_or_else(|| {
            let start = self.list.len();
            let end = start + (LEAST << size);
            if end > self.list.capacity() {
                // Most owners have a block already.
                reserve_all(&mut self.list, end + end / 8);
            }
            self.list.resize(end, filler);
            self.made[size] += 1;
            self.free[size].reserve(self.made[size]);
            start as u32
        });
        let (from, to) = (block.start as usize, start as usize);
        self.list
            .copy_within(from..from + usize::from(block.len), to);
        self.give_back(*block);
        (block.start, block.size) = (start, block.size + 1);
    }

    fn give_back(&mut self, block: Block) {
        if let Some(size) = usize::from(block.size).checked_sub(1) {
            self.free[size].push(block.start);
        }
    }

    /// Keeps the elements for which `keep` returns true, in their order.
    pub(crate) fn retain(&mut self, block: &mut Block, mut keep: impl FnMut(&T) -> bool) {
        let elements = self.get_mut(*block);
        let mut kept = 0;
        for index in 0..elements.len() {
            if keep(&elements[index]) {
                if kept < index {
                    elements[kept] = elements[index];
                }
                kept += 1;
            }
        }
        block.len = kept as u16;
    }

    /// Frees the block, for use by other owners.
    pub(crate) fn release(&mut self, block: &mut Block) {
        self.give_back(*block);
        *block = Block::default();
    }
}
