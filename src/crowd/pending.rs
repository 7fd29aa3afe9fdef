//! Changes that wait to be uploaded.

use crate::grow::reserve_all;

/// A list of indices, each once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Marked {
    list: Vec<u32>,
    /// A bit for each index that the list has.
    has: Vec<u64>,
}

impl Marked {
    /// Reserves memory for all indices below `all`, so that frames allocate nothing.
    pub(crate) fn grow(&mut self, all: usize) {
        reserve_all(&mut self.list, all);
        let words = all.div_ceil(64);
        if self.has.len() < words {
            reserve_all(&mut self.has, words);
            self.has.resize(words, 0);
        }
    }

    /// Adds an index, unless the list has it.
    #[inline]
    pub(crate) fn add(&mut self, index: u32) {
        let (word, bit) = (index as usize / 64, 1 << (index % 64));
        if self.has.len() <= word {
            self.has.resize(word + 1, 0);
        }
        if self.has[word] & bit == 0 {
            self.has[word] |= bit;
            self.list.push(index);
        }
    }

    /// Takes the index that was added last.
    pub(crate) fn pop(&mut self) -> Option<u32> {
        let index = self.list.pop()?;
        self.has[index as usize / 64] &= !(1 << (index % 64));
        Some(index)
    }

    /// Removes the bits of all indices of the list.
    fn remove_bits(&mut self) {
        // A long list costs more than all words.
        if self.list.len() > self.has.len() {
            self.has.fill(0);
            return;
        }
        for index in &self.list {
            self.has[*index as usize / 64] &= !(1 << (index % 64));
        }
    }

    /// Removes the indices from `all` on.
    pub(crate) fn retain(&mut self, all: usize) {
        self.remove_bits();
        self.list.retain(|index| (*index as usize) < all);
        for index in &self.list {
            self.has[*index as usize / 64] |= 1 << (index % 64);
        }
    }

    /// True if the list has an index.
    pub(crate) fn has(&self, index: u32) -> bool {
        let word = self.has.get(index as usize / 64);
        word.is_some_and(|word| word >> (index % 64) & 1 != 0)
    }

    /// Removes the indices that another list has.
    pub(crate) fn remove_all(&mut self, others: &Self) {
        if others.list.is_empty() || self.list.is_empty() {
            return;
        }
        for index in &others.list {
            if let Some(word) = self.has.get_mut(*index as usize / 64) {
                *word &= !(1 << (index % 64));
            }
        }
        let mut list = core::mem::take(&mut self.list);
        list.retain(|index| self.has(*index));
        self.list = list;
    }

    pub(crate) fn list(&self) -> &[u32] {
        &self.list
    }

    pub(crate) fn clear(&mut self) {
        self.remove_bits();
        self.list.clear();
    }
}

/// The indices of what changed since a frame uploaded it.
///
/// A frame uploads [`Self::list`], and then calls [`Self::mark_uploaded`]. If it is never
/// submitted, [`Self::mark_lost`] lets the next frame upload the same again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pending {
    changed: Marked,
    /// The changes that the last frame uploaded.
    uploaded: Vec<u32>,
}

impl Pending {
    /// Reserves memory for all indices below `all`, so that frames allocate nothing.
    pub(crate) fn grow(&mut self, all: usize) {
        self.changed.grow(all);
        reserve_all(&mut self.uploaded, all);
    }

    /// Notes a change.
    #[inline]
    pub(crate) fn add(&mut self, index: u32) {
        self.changed.add(index);
    }

    /// The changes to upload.
    pub(crate) fn list(&self) -> &[u32] {
        self.changed.list()
    }

    /// The changes that the last frame uploaded.
    pub(crate) fn uploaded(&self) -> &[u32] {
        &self.uploaded
    }

    /// Forgets the indices of another list that changed.
    pub(crate) fn remove_from(&self, others: &mut Marked) {
        others.remove_all(&self.changed);
    }

    /// Notes that a frame has uploaded everything, and what other lists have, which changed if the
    /// upload never arrives.
    pub(crate) fn mark_uploaded_with(&mut self, others: &mut Marked) {
        self.mark_uploaded();
        self.uploaded.extend_from_slice(others.list());
        others.clear();
    }

    /// Notes that a frame has uploaded everything.
    pub(crate) fn mark_uploaded(&mut self) {
        self.changed.remove_bits();
        self.uploaded.clear();
        core::mem::swap(&mut self.uploaded, &mut self.changed.list);
    }

    /// Notes that the last upload never arrived.
    pub(crate) fn mark_lost(&mut self) {
        for index in self.uploaded.drain(..) {
            self.changed.add(index);
        }
    }

    /// Forgets the changes of indices from `all` on, also those of the last frame.
    pub(crate) fn retain(&mut self, all: usize) {
        self.changed.retain(all);
        self.uploaded.retain(|index| (*index as usize) < all);
    }
}
