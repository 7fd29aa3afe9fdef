//! Chunks: the members of characters as the GPU's cull stage has them, 64 in a chunk, each chunk of
//! one character.
//!
//! A character's chunks are contiguous. When its members outgrow them, it gets twice as many
//! elsewhere. The CPU notes which chunks changed, and the next frame uploads those.

use crate::crowd::characters::loaded::{Characters, LoadedCharacter};
use crate::crowd::memory::range_allocator::RangeAllocator;
use crate::crowd::memory::work::WorkLayout;
use crate::crowd::poses::shared_poses::SharedPoses;
use crate::crowd::visibility::slot::{KINDS, Slot, bucket};
use crate::error::Result;
use crate::gpu::animation::words as words_of;
use crate::gpu::constants::{CHARACTER_WORDS, CHUNK, CHUNK_WORDS, DRAW_WORDS, MAX_LEVELS, SKINS};

/// Takes words for the work buffer.
pub(crate) trait Patch {
    /// Uploads `count` words to the word `at` of the work buffer.
    ///
    /// # Errors
    /// [`Error::Capacity`](crate::Error::Capacity) if there is no space in this frame.
    fn patch(&mut self, at: u32, count: usize, words: impl Iterator<Item = u32>) -> Result<()>;
}

/// Numbers of characters, and ranges of chunks and draws.
#[derive(Debug)]
pub(crate) struct Chunks {
    /// Numbers that no character has any more.
    free: Vec<u32>,
    next: u32,
    ranges: RangeAllocator,
    draws: RangeAllocator,
    /// Chunks that characters gave back, until their records are cleared. Each once.
    left: Vec<u32>,
    is_left: Vec<bool>,
    /// Numbers that characters gave back, until their records are cleared.
    left_numbers: Vec<u32>,
    /// Chunks whose records the last frame cleared.
    cleared: Vec<u32>,
    cleared_numbers: Vec<u32>,
    /// One past the last chunk that a frame has uploaded.
    uploaded: u32,
}

impl Chunks {
    pub(crate) fn new() -> Self {
        Self {
            free: Vec::new(),
            next: 0,
            ranges: RangeAllocator::new(0),
            draws: RangeAllocator::new(0),
            left: Vec::new(),
            is_left: Vec::new(),
            left_numbers: Vec::new(),
            cleared: Vec::new(),
            cleared_numbers: Vec::new(),
            uploaded: 0,
        }
    }

    /// Grows to the capacity of a work buffer.
    pub(crate) fn grow(&mut self, layout: &WorkLayout) {
        self.ranges.grow(layout.chunk_count);
        self.draws.grow(layout.draw_count);
        // Frames allocate nothing.
        let chunks = layout.chunk_count as usize;
        self.is_left.resize(chunks, false);
        for list in [&mut self.left, &mut self.cleared] {
            list.reserve(chunks.saturating_sub(list.len()));
        }
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
    pub(crate) fn need(&self, character: &LoadedCharacter) -> [u32; 2] {
        let characters = self.next + u32::from(self.free.is_empty());
        let draws = draw_range(character).saturating_add(self.draws.end());
        [characters, draws]
    }

    /// Gives a character its place. The caller has checked [`Self::need`].
    pub(crate) fn add(&mut self, character: &LoadedCharacter) -> Slot {
        let number = self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        });
        let count = draw_range(character);
        Slot {
            number,
            draws: (self.draws.allocate(count).unwrap_or(0), count),
            is_new: true,
            ..Slot::default()
        }
    }

    /// Takes a character's place back.
    pub(crate) fn remove(&mut self, slot: &Slot) {
        self.free.push(slot.number);
        if !self.left_numbers.contains(&slot.number) {
            self.left_numbers.push(slot.number);
        }
        self.draws.free(slot.draws.0, slot.draws.1);
        self.release(slot.chunks);
    }

    fn release(&mut self, (first, count): (u32, u32)) {
        self.ranges.free(first, count);
        self.leave(first..first + count);
    }

    /// Notes chunks whose records must be cleared, unless a character gets them.
    fn leave(&mut self, chunks: impl Iterator<Item = u32>) {
        for chunk in chunks {
            if let Some(is_left) = self.is_left.get_mut(chunk as usize)
                && !core::mem::replace(is_left, true)
            {
                self.left.push(chunk);
            }
        }
    }

    /// Reserves memory, so that a frame allocates nothing.
    pub(crate) fn reserve(&mut self, characters: &mut Characters) {
        let more = (self.next as usize).saturating_sub(self.left_numbers.len());
        self.left_numbers.reserve(more);
        self.cleared_numbers.reserve(more);
        for character in characters.iter_mut() {
            if let Some(slot) = &mut character.slot {
                slot.reserve(character.members.len());
            }
        }
    }

    /// Gives a character enough chunks for its members. Call it after members were added.
    pub(crate) fn make_room(&mut self, characters: &mut Characters, character: u32) {
        let fits = characters.at_mut(character).is_none_or(|own| self.fit(own));
        if !fits {
            self.compact(characters);
        }
    }

    /// Uploads everything that changed.
    ///
    /// # Errors
    /// [`Error::Capacity`](crate::Error::Capacity) if there is no space in this frame.
    pub(crate) fn upload(
        &mut self,
        characters: &mut Characters,
        layout: &WorkLayout,
        to: &mut impl Patch,
    ) -> Result<()> {
        let changed = |character: &&mut LoadedCharacter| {
            let slot = character.slot.as_ref();
            slot.is_some_and(|slot| slot.is_new || !slot.changed.is_empty())
        };
        for chunk in self.left.iter().copied() {
            let has = |slot: &Slot| (slot.chunks.0..slot.chunks.0 + slot.chunks.1).contains(&chunk);
            let mut slots = characters.iter().filter_map(|(_, own)| own.slot.as_ref());
            if !slots.any(has) {
                let at = layout.chunks + chunk * CHUNK_WORDS;
                to.patch(
                    at,
                    CHUNK_WORDS as usize,
                    [0; CHUNK_WORDS as usize].into_iter(),
                )?;
            }
        }
        for number in self.left_numbers.iter().copied() {
            let mut slots = characters.iter().filter_map(|(_, own)| own.slot.as_ref());
            if !slots.any(|slot| slot.number == number) {
                // A character without chunks and levels.
                let at = layout.characters + number * CHARACTER_WORDS;
                let words = core::iter::repeat_n(0, CHARACTER_WORDS as usize);
                to.patch(at, CHARACTER_WORDS as usize, words)?;
            }
        }
        for character in characters.iter_mut().filter(changed) {
            upload(character, layout, to)?;
        }
        Ok(())
    }

    /// Notes that everything was uploaded.
    pub(crate) fn mark_uploaded(&mut self, characters: &mut Characters) {
        self.cleared.clear();
        for chunk in &self.left {
            if let Some(is_left) = self.is_left.get_mut(*chunk as usize) {
                *is_left = false;
            }
        }
        self.cleared.append(&mut self.left);
        self.cleared_numbers.clear();
        self.cleared_numbers.append(&mut self.left_numbers);
        self.uploaded = self.ranges.end();
        for slot in characters
            .iter_mut()
            .filter_map(|character| character.slot.as_mut())
        {
            slot.mark_uploaded();
        }
    }

    /// Notes that what the last frame uploaded never arrived.
    pub(crate) fn mark_lost(&mut self, characters: &mut Characters) {
        let cleared = core::mem::take(&mut self.cleared);
        self.leave(cleared.iter().copied());
        self.cleared = cleared;
        self.cleared.clear();
        for number in self.cleared_numbers.drain(..) {
            if !self.left_numbers.contains(&number) {
                self.left_numbers.push(number);
            }
        }
        for slot in characters
            .iter_mut()
            .filter_map(|character| character.slot.as_mut())
        {
            slot.is_new |= core::mem::take(&mut slot.was_changed);
        }
    }

    /// Gives a character enough chunks. Returns false if there is no such range.
    fn fit(&mut self, character: &mut LoadedCharacter) -> bool {
        let need = character.members.len().div_ceil(CHUNK) as u32;
        let Some(slot) = &mut character.slot else {
            return true;
        };
        if need <= slot.chunks.1 {
            return true;
        }
        self.release(core::mem::take(&mut slot.chunks));
        slot.is_new = true;
        let count = need.next_power_of_two();
        match self.ranges.allocate(count) {
            Some(start) => {
                slot.chunks = (start, count);
                true
            }
            None => false,
        }
    }

    /// Gives all characters new chunks, without gaps.
    fn compact(&mut self, characters: &mut Characters) {
        self.leave(0..self.ranges.end());
        self.ranges.clear();
        for character in characters.iter_mut() {
            let need = character.members.len().div_ceil(CHUNK) as u32;
            if let Some(slot) = &mut character.slot {
                // The capacity has space for one more chunk than the members of each fill.
                let start = self.ranges.allocate(need).unwrap_or(0);
                slot.chunks = (start, need);
                slot.is_new = true;
            }
        }
    }
}

/// The length of the range for a character's draws in the GPU's table: a power of two, so that
/// ranges can be reused.
fn draw_range(character: &LoadedCharacter) -> u32 {
    let draws = character
        .levels
        .iter()
        .map(|level| level.draws(false).len());
    let count = (draws.sum::<usize>() as u32).saturating_mul(KINDS);
    count.checked_next_power_of_two().unwrap_or(u32::MAX)
}

/// Uploads what changed of a character.
fn upload(character: &LoadedCharacter, layout: &WorkLayout, to: &mut impl Patch) -> Result<()> {
    let Some(slot) = &character.slot else {
        return Ok(());
    };
    let members = &character.members;
    let chunks = members.chunks(CHUNK);
    let used = chunks.len() as u32;
    let (first, count) = slot.chunks;
    if slot.is_new {
        let levels = character.levels.iter().enumerate();
        let draws = levels.flat_map(|(number, level)| {
            let draws = level.draws(false).iter();
            draws.flat_map(move |draw| {
                let kinds = [(false, false), (false, true), (true, false), (true, true)];
                kinds.into_iter().flat_map(move |(flipped, hides)| {
                    let bucket = bucket(flipped, number, hides);
                    [slot.number, bucket, draw.index_count, draw.first_index]
                })
            })
        });
        // Draws that belong to no character draw nothing.
        let draws = draws.chain([u32::MAX, 0, 0, 0].into_iter().cycle());
        let words = slot.draws.1 * DRAW_WORDS;
        to.patch(
            layout.draws + slot.draws.0 * DRAW_WORDS,
            words as usize,
            draws,
        )?;
        let errors = padded(character.errors.iter().map(|error| error.to_bits()));
        let triangles = padded(character.levels.iter().map(|level| level.triangles));
        let levels = character.levels.len().clamp(1, MAX_LEVELS) as u32;
        let shared = character.shared_poses.as_ref();
        let shared = shared.map_or(0, SharedPoses::address);
        let addresses = [shared, character.kind().rest_palette].map(words_of);
        let words = [first, used, levels, character.palette_rows()].into_iter();
        let words = words.chain(errors).chain(triangles);
        let words = words.chain(addresses.into_iter().flatten());
        let skins = character.mesh.chunks().iter().map(|chunks| chunks.count);
        let skins = skins.chain(core::iter::repeat(0)).take(SKINS);
        let words = words.chain(skins);
        let at = layout.characters + slot.number * CHARACTER_WORDS;
        to.patch(at, CHARACTER_WORDS as usize, words)?;
        let record = |chunk: u32| {
            let here = members.len().saturating_sub(chunk as usize * CHUNK);
            [slot.number, here.min(CHUNK) as u32]
        };
        let at = layout.chunks + first * CHUNK_WORDS;
        let words = (0..count).flat_map(record);
        to.patch(at, (count * CHUNK_WORDS) as usize, words)?;
        let at = layout.members + first * CHUNK as u32;
        return to.patch(at, members.len(), members.iter().copied());
    }
    let at = layout.characters + slot.number * CHARACTER_WORDS + 1;
    to.patch(at, 1, core::iter::once(used))?;
    for chunk in slot.changed.iter().filter(|chunk| **chunk < count) {
        let start = *chunk as usize * CHUNK;
        let here = members.get(start..).unwrap_or_default();
        let here = here.get(..CHUNK).unwrap_or(here);
        let at = layout.chunks + (first + chunk) * CHUNK_WORDS;
        let record = [slot.number, here.len() as u32];
        to.patch(at, record.len(), record.into_iter())?;
        let at = layout.members + (first + chunk) * CHUNK as u32;
        to.patch(at, here.len(), here.iter().copied())?;
    }
    Ok(())
}

/// One word for each level.
fn padded(words: impl Iterator<Item = u32>) -> impl Iterator<Item = u32> {
    words.chain(core::iter::repeat(0)).take(MAX_LEVELS)
}
