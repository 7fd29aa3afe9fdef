//! Sets of instances, in which few members are found fast among many instances.

use crate::gpu::constants::CHUNK;
use crate::grow::reserve_all;

/// A set of instances: a bit for each, in blocks, and a bit for each block that has some.
#[derive(Debug, Default)]
pub(crate) struct InstanceSet {
    blocks: Vec<u64>,
    filled: Vec<u64>,
}

impl InstanceSet {
    /// Reserves memory for this many blocks.
    pub(crate) fn reserve(&mut self, blocks: usize) {
        reserve_all(&mut self.blocks, blocks);
        reserve_all(&mut self.filled, blocks.div_ceil(CHUNK));
    }

    /// Changes the number of blocks. It never shrinks.
    pub(crate) fn resize(&mut self, blocks: usize) {
        self.blocks.resize(blocks, 0);
        self.filled.resize(blocks.div_ceil(CHUNK), 0);
    }

    /// The number of blocks.
    pub(crate) fn len(&self) -> usize {
        self.blocks.len()
    }

    /// The bits of a block.
    pub(crate) fn block(&self, number: usize) -> u64 {
        self.blocks.get(number).copied().unwrap_or(0)
    }

    pub(crate) fn has(&self, index: usize) -> bool {
        self.block(index / CHUNK) >> (index % CHUNK) & 1 != 0
    }

    pub(crate) fn set(&mut self, index: usize, to: bool) {
        let number = index / CHUNK;
        let Some(block) = self.blocks.get_mut(number) else {
            return;
        };
        put_bit(block, index % CHUNK, to);
        let any = *block != 0;
        if let Some(filled) = self.filled.get_mut(number / CHUNK) {
            put_bit(filled, number % CHUNK, any);
        }
    }

    /// The first block from a number on that has members.
    pub(crate) fn next_block(&self, from: usize) -> Option<usize> {
        let word = from / CHUNK;
        let first = self.filled.get(word)? & (u64::MAX << (from % CHUNK));
        let rest = self.filled.get(word + 1..).unwrap_or_default().iter();
        let mut words = (word..).zip(core::iter::once(&first).chain(rest));
        let (word, filled) = words.find(|(_, filled)| **filled != 0)?;
        Some(word * CHUNK + filled.trailing_zeros() as usize)
    }

    /// The blocks that have members, ascending.
    pub(crate) fn filled(&self) -> impl Iterator<Item = usize> + '_ {
        filled(self.filled.iter().copied())
    }

    /// The blocks in which this or another set of as many blocks has members, ascending.
    pub(crate) fn filled_or<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = usize> + 'a {
        let pairs = self.filled.iter().zip(&other.filled);
        filled(pairs.map(|(one, other)| one | other))
    }

    /// The members, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.filled()
            .flat_map(|number| bits(self.block(number)).map(move |at| (number * CHUNK + at) as u32))
    }
}

/// The numbers of the bits that are set in these words.
fn filled(words: impl Iterator<Item = u64>) -> impl Iterator<Item = usize> {
    words
        .enumerate()
        .flat_map(|(word, filled)| bits(filled).map(move |at| word * CHUNK + at))
}

fn put_bit(word: &mut u64, at: usize, to: bool) {
    let bit = 1 << at;
    *word = if to { *word | bit } else { *word & !bit };
}

/// The numbers of the bits that are set.
pub(crate) fn bits(mut word: u64) -> impl Iterator<Item = usize> + use<> {
    core::iter::from_fn(move || {
        let at = word.trailing_zeros() as usize;
        (word != 0).then(|| {
            word &= word - 1;
            at
        })
    })
}
