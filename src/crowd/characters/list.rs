//! All characters of a crowd.

use crate::crowd::CharacterId;
use crate::crowd::characters::loaded::{LoadedCharacter, make_sets};
use crate::crowd::memory::buffers::FrameBuffers;
use crate::crowd::table::Slots;
use crate::crowd::visibility::chunks::Chunks;
use crate::error::{Error, Result};
use crate::gpu::sets::Sets;
use crate::gpu::{Device, Guard, SetLayout};
use core::ops::{Deref, DerefMut};

/// All characters of a crowd, by the index of their id.
#[derive(Debug, Default)]
pub(crate) struct Characters {
    pub(crate) list: Slots<LoadedCharacter>,
    /// Their members as the GPU has them, if it culls.
    pub(crate) chunks: Chunks,
    /// The serial number given out last.
    serials: u32,
}

impl Deref for Characters {
    type Target = Slots<LoadedCharacter>;

    fn deref(&self) -> &Self::Target {
        &self.list
    }
}

impl DerefMut for Characters {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.list
    }
}

impl Characters {
    pub(crate) fn get(&self, id: CharacterId) -> Result<&LoadedCharacter> {
        let found = self.list.get(id.0);
        found.ok_or_else(|| no_character(id, self.len()))
    }

    /// A serial number for a character that is about to be loaded.
    pub(crate) fn next_serial(&mut self) -> u32 {
        self.serials = self.serials.wrapping_add(1);
        self.serials
    }

    /// Returns true if the character of this serial number is still there.
    pub(crate) fn has_serial(&self, serial: u32) -> bool {
        self.iter().any(|(_, character)| character.serial == serial)
    }

    /// Replaces a character, and moves its instances to the new one. Returns the old one.
    pub(crate) fn replace(&mut self, id: u32, mut new: LoadedCharacter) -> LoadedCharacter {
        let old = &mut self.list[id];
        new.members = core::mem::take(&mut old.members);
        (new.flipped, new.varying, new.wearing) = (old.flipped, old.varying, old.wearing);
        new.instance_of_actor = core::mem::take(&mut old.instance_of_actor);
        core::mem::replace(old, new)
    }

    /// Makes new sets for all characters over new buffers.
    pub(crate) fn all_sets<'g>(
        &self,
        device: &'g Device,
        layout: &SetLayout,
        buffers: &FrameBuffers,
    ) -> Result<Vec<Guard<'g, Sets>>> {
        self.iter()
            .map(|(_, it)| make_sets(device, layout, buffers, &it.mesh))
            .collect()
    }
}

pub(crate) fn no_character(id: CharacterId, count: usize) -> Error {
    Error::not_found("character", id.0 as usize, count)
}
