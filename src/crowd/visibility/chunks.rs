//! Chunks: the members of characters as the GPU's cull stage has them, 64 in a chunk, each chunk of
//! one character.
//!
//! A character's chunks are contiguous. When its members outgrow them, it gets twice as many
//! elsewhere. The CPU notes which chunks changed, and the next frame uploads those.

use crate::crowd::characters::loaded::{Characters, LoadedCharacter};
use crate::crowd::memory::range_allocator::RangeAllocator;
use crate::crowd::memory::work::WorkLayout;
use crate::crowd::pending::Pending;
use crate::crowd::poses::shared_poses::SharedPoses;
use crate::crowd::visibility::slot::{KINDS, Slot, bucket};
use crate::error::Result;
use crate::gpu::animation::words as words_of;
use crate::gpu::constants::{CHARACTER_WORDS, CHUNK, CHUNK_WORDS, DRAW_WORDS, MAX_LEVELS, SKINS};
use core::iter::repeat_n;

/// Takes words for the work buffer.
pub(crate) trait Patch {
    /// Uploads `count` words to the word `at` of the work buffer.
    ///
    /// # Errors
    /// [`Error::Capacity`](crate::Error::Capacity) if there is no space in this frame.
    fn patch(&mut self, at: u32, count: usize, words: impl Iterator<Item = u32>) -> Result<()>;
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
    left: Pending,
    /// Numbers that characters gave back.
    left_numbers: Pending,
    /// One past the last chunk that a frame has uploaded.
    uploaded: u32,
}

impl Chunks {
    /// Grows to the capacity of a work buffer.
    pub(crate) fn grow(&mut self, layout: &WorkLayout) {
        self.ranges.grow(layout.chunk_count);
        self.draws.grow(layout.draw_count);
        // Frames allocate nothing.
        self.left.grow(layout.chunk_count as usize);
        self.left_numbers.grow(layout.character_count as usize);
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
        self.left_numbers.add(slot.number);
        self.draws.free(slot.draws.0, slot.draws.1);
        self.release(slot.chunks);
    }

    fn release(&mut self, (first, count): (u32, u32)) {
        self.ranges.free(first, count);
        (first..first + count).for_each(|chunk| self.left.add(chunk));
    }

    /// Reserves memory, so that a frame allocates nothing.
    pub(crate) fn reserve(&mut self, characters: &mut Characters) {
        for (_, character) in characters.iter_mut() {
            if let Some(slot) = &mut character.slot {
                slot.reserve(character.members.len());
            }
        }
    }

    /// Gives a character enough chunks for its members. Call it after members were added.
    pub(crate) fn make_room(&mut self, characters: &mut Characters, character: u32) {
        if !self.fit(&mut characters[character]) {
            self.compact(characters);
        }
    }

    /// Uploads everything that changed.
    ///
    /// # Errors
    /// [`Error::Capacity`](crate::Error::Capacity) if there is no space in this frame.
    pub(crate) fn upload(
        &mut self,
        characters: &Characters,
        layout: &WorkLayout,
        to: &mut impl Patch,
    ) -> Result<()> {
        let slots = || characters.iter().filter_map(|(_, own)| own.slot.as_ref());
        for chunk in self.left.list() {
            let has = |slot: &Slot| (slot.chunks.0..slot.chunks.0 + slot.chunks.1).contains(chunk);
            if !slots().any(has) {
                let at = layout.chunks + chunk * CHUNK_WORDS;
                to.patch(at, CHUNK_WORDS as usize, repeat_n(0, CHUNK_WORDS as usize))?;
            }
        }
        for number in self.left_numbers.list() {
            if !slots().any(|slot| slot.number == *number) {
                // A character without chunks and levels.
                let at = layout.characters + number * CHARACTER_WORDS;
                let words = repeat_n(0, CHARACTER_WORDS as usize);
                to.patch(at, CHARACTER_WORDS as usize, words)?;
            }
        }
        for (_, character) in characters.iter() {
            if let Some(slot) = &character.slot {
                upload(character, slot, layout, to)?;
            }
        }
        Ok(())
    }

    /// Notes that everything was uploaded.
    pub(crate) fn mark_uploaded(&mut self, characters: &mut Characters) {
        self.left.mark_uploaded();
        self.left_numbers.mark_uploaded();
        self.uploaded = self.ranges.end();
        slots_mut(characters).for_each(Slot::mark_uploaded);
    }

    /// Notes that what the last frame uploaded never arrived.
    pub(crate) fn mark_lost(&mut self, characters: &mut Characters) {
        self.left.mark_lost();
        self.left_numbers.mark_lost();
        slots_mut(characters).for_each(Slot::mark_lost);
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
        (0..self.ranges.end()).for_each(|chunk| self.left.add(chunk));
        self.ranges.clear();
        for (_, character) in characters.iter_mut() {
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

fn slots_mut(characters: &mut Characters) -> impl Iterator<Item = &mut Slot> {
    let all = characters.iter_mut();
    all.filter_map(|(_, character)| character.slot.as_mut())
}

/// Uploads what changed of a character.
fn upload(
    character: &LoadedCharacter,
    slot: &Slot,
    layout: &WorkLayout,
    to: &mut impl Patch,
) -> Result<()> {
    if !slot.is_new && slot.changed.list().is_empty() {
        return Ok(());
    }
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
    for chunk in slot.changed.list().iter().filter(|chunk| **chunk < count) {
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
