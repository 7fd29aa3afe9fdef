//! The members of characters as the GPU's cull stage has them: what changed is uploaded.

use crate::crowd::characters::list::Characters;
use crate::crowd::characters::loaded::LoadedCharacter;
use crate::crowd::memory::buffers::FrameWriter;
use crate::crowd::memory::work::WorkLayout;
use crate::crowd::poses::shared_poses::SharedPoses;
use crate::crowd::visibility::chunks::{Slot, bucket};
use crate::error::Result;
use crate::gpu::animation::words as words_of;
use crate::gpu::constants::{
    CHARACTER_LOOKS, CHARACTER_WORDS, CHUNK, CHUNK_WORDS, DRAW_WORDS, MAX_LEVELS, SKINS,
};
use crate::gpu::layout::GpuDraw;
use core::iter::repeat_n;

/// The members of characters as the GPU has them, if it culls.
impl Characters {
    fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.iter().filter_map(|(_, own)| own.slot.as_ref())
    }

    fn slots_mut(&mut self) -> impl Iterator<Item = &mut Slot> {
        self.iter_mut().filter_map(|(_, own)| own.slot.as_mut())
    }

    /// Reserves memory, so that a frame allocates nothing.
    pub(crate) fn reserve_slots(&mut self) {
        for (_, character) in self.iter_mut() {
            if let Some(slot) = &mut character.slot {
                slot.reserve(character.members.len());
            }
        }
    }

    /// Gives a character enough chunks for its members. Call it after members were added.
    pub(crate) fn make_room(&mut self, character: u32) {
        let Self { list, chunks, .. } = self;
        let own = &mut list[character];
        if let Some(slot) = &mut own.slot
            && !chunks.fit(slot, own.members.len())
        {
            self.compact_chunks();
        }
    }

    /// Gives all characters new chunks without gaps, with half of what is spare, so that the next
    /// members of most need none.
    fn compact_chunks(&mut self) {
        let Self { list, chunks, .. } = self;
        let capacity = u64::from(chunks.clear());
        let need = |character: &LoadedCharacter| character.members.len().div_ceil(CHUNK) as u64;
        let needed = list.iter().map(|(_, character)| need(character));
        let needed = needed.sum::<u64>().max(1);
        let spare = capacity.saturating_sub(needed) / 2;
        for (_, character) in list.iter_mut() {
            let need = need(character);
            if let Some(slot) = &mut character.slot {
                chunks.fill(slot, (need + need * spare / needed) as u32);
            }
        }
    }

    /// Gives the members whose looks vary the places of their lists. Returns how many entries a
    /// view needs.
    pub(crate) fn place_looks(&mut self) -> u64 {
        let mut next = 0;
        for (_, character) in self.iter_mut() {
            let (varying, lists) = match character.varying {
                0 => (0, 0),
                varying => (varying as u32, character.looks()),
            };
            if let Some(slot) = &mut character.slot {
                let looks = match varying {
                    0 => [0; 3],
                    _ => [next as u32, varying, lists],
                };
                slot.looks_changed |= slot.looks != looks;
                slot.looks = looks;
                next += u64::from(varying) * u64::from(lists);
            }
        }
        next
    }

    /// True if there are such members.
    pub(crate) fn have_looks(&self) -> bool {
        self.slots().any(|slot| slot.looks[1] > 0)
    }

    /// Uploads everything that changed.
    ///
    /// # Errors
    /// [`Error::Capacity`](crate::Error::Capacity) if there is no space in this frame.
    pub(crate) fn upload(&self, layout: &WorkLayout, to: &mut FrameWriter<'_>) -> Result<()> {
        for chunk in self.chunks.left.list() {
            let has = |slot: &Slot| (slot.chunks.0..slot.chunks.0 + slot.chunks.1).contains(chunk);
            if !self.slots().any(has) {
                let at = layout.push.chunks_at + chunk * CHUNK_WORDS;
                to.patch(at, CHUNK_WORDS as usize, repeat_n(0, CHUNK_WORDS as usize))?;
            }
        }
        for number in self.chunks.left_numbers.list() {
            if !self.slots().any(|slot| slot.number == *number) {
                // A character without chunks and levels.
                let at = layout.push.characters_at + number * CHARACTER_WORDS;
                let words = repeat_n(0, CHARACTER_WORDS as usize);
                to.patch(at, CHARACTER_WORDS as usize, words)?;
            }
        }
        for (_, character) in self.iter() {
            if let Some(slot) = &character.slot {
                upload(character, slot, layout, to)?;
            }
        }
        Ok(())
    }

    /// Notes that everything was uploaded.
    pub(crate) fn mark_uploaded(&mut self) {
        self.chunks.mark_uploaded();
        self.slots_mut().for_each(Slot::mark_uploaded);
        for (_, own) in self.iter_mut() {
            own.mark_prepared();
            if let Some(poses) = &mut own.shared_poses {
                poses.wanted.mark_uploaded();
            }
        }
    }

    /// Notes that what the last frame uploaded never arrived.
    pub(crate) fn mark_lost(&mut self) {
        self.chunks.mark_lost();
        self.slots_mut().for_each(Slot::mark_lost);
        let shared = self
            .iter_mut()
            .filter_map(|(_, own)| own.shared_poses.as_mut());
        shared.for_each(|poses| poses.wanted.mark_lost());
    }
}

/// Uploads what changed of a character.
fn upload(
    character: &LoadedCharacter,
    slot: &Slot,
    layout: &WorkLayout,
    to: &mut FrameWriter<'_>,
) -> Result<()> {
    let is_same = slot.changed.list().is_empty() && !slot.looks_changed;
    if !slot.is_new && is_same {
        return Ok(());
    }
    let members = &character.members;
    let chunks = members.chunks(CHUNK);
    let used = chunks.len() as u32;
    let (first, count) = slot.chunks;
    if slot.is_new {
        let levels = character.levels.iter().enumerate();
        let draws = levels.flat_map(|(number, level)| {
            let mut varied = 0;
            level.draws(false).iter().flat_map(move |draw| {
                let ordinal = varied;
                varied += u32::from(character.has_kind(draw, true));
                let kinds = [(false, false), (false, true), (true, false), (true, true)];
                kinds.map(|(flipped, varies)| match character.has_kind(draw, varies) {
                    true => GpuDraw {
                        character: slot.number,
                        bucket: bucket(flipped, number, varies),
                        ..character.draw_record(draw, ordinal)
                    },
                    false => GpuDraw::NOTHING,
                })
            })
        });
        let draws = draws.chain(core::iter::repeat(GpuDraw::NOTHING));
        let draws = draws.flat_map(|draw| -> [u32; DRAW_WORDS as usize] { bytemuck::cast(draw) });
        let words = slot.draws.1 * DRAW_WORDS;
        to.patch(
            layout.push.draws_at + slot.draws.0 * DRAW_WORDS,
            words as usize,
            draws,
        )?;
        let errors = padded(character.errors(false).iter().map(|error| error.to_bits()));
        let triangles = padded(character.levels.iter().map(|level| level.triangles));
        let all = character.levels.len().clamp(1, MAX_LEVELS) as u32;
        let levels = all | (character.near_levels as u32).min(all) << 16;
        let shared = character.shared_poses.as_ref();
        let shared = shared.map_or(0, SharedPoses::address);
        let addresses = [shared, character.kind().rest_palette].map(words_of);
        let words = [first, used, levels, character.palette_rows()].into_iter();
        let words = words.chain(errors).chain(triangles);
        let words = words.chain(addresses.into_iter().flatten());
        let skins = character.mesh.chunks().iter().map(|chunks| chunks.count);
        let skins = skins.chain(core::iter::repeat(0)).take(SKINS);
        let draws = [slot.draws.0, slot.draws.1, 0, 0, 0];
        let words = words.chain(skins).chain(slot.looks).chain(draws);
        let at = layout.push.characters_at + slot.number * CHARACTER_WORDS;
        to.patch(at, CHARACTER_WORDS as usize, words)?;
        let record = |chunk: u32| {
            let here = members.len().saturating_sub(chunk as usize * CHUNK);
            [slot.number, here.min(CHUNK) as u32]
        };
        let at = layout.push.chunks_at + first * CHUNK_WORDS;
        let words = (0..count).flat_map(record);
        to.patch(at, (count * CHUNK_WORDS) as usize, words)?;
        let at = layout.push.members_at + first * CHUNK as u32;
        return to.patch(at, members.len(), members.iter().copied());
    }
    let at = layout.push.characters_at + slot.number * CHARACTER_WORDS + 1;
    to.patch(at, 1, core::iter::once(used))?;
    if slot.looks_changed {
        let at = layout.push.characters_at + slot.number * CHARACTER_WORDS + CHARACTER_LOOKS;
        to.patch(at, slot.looks.len(), slot.looks.into_iter())?;
    }
    for chunk in slot.changed.list().iter().filter(|chunk| **chunk < count) {
        let start = *chunk as usize * CHUNK;
        let here = members.get(start..).unwrap_or_default();
        let here = here.get(..CHUNK).unwrap_or(here);
        let at = layout.push.chunks_at + (first + chunk) * CHUNK_WORDS;
        let record = [slot.number, here.len() as u32];
        to.patch(at, record.len(), record.into_iter())?;
        let at = layout.push.members_at + (first + chunk) * CHUNK as u32;
        to.patch(at, here.len(), here.iter().copied())?;
    }
    Ok(())
}

/// One word for each level.
fn padded(words: impl Iterator<Item = u32>) -> impl Iterator<Item = u32> {
    words.chain(core::iter::repeat(0)).take(MAX_LEVELS)
}
