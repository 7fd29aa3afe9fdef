//! The animators of a crowd.

use crate::animator::Animator;
use crate::crowd::CharacterId;
use crate::crowd::characters::list::no_character;
use crate::crowd::table::Slots;
use crate::error::Result;
use core::ops::{Deref, DerefMut};

/// The animators of a crowd's characters, by character.
#[derive(Debug, Default)]
pub(crate) struct Animators {
    list: Slots<Animator>,
    edit_count: u64,
}

impl Animators {
    /// A counter that increases with every possible change to an actor.
    pub(crate) fn edit_count(&self) -> u64 {
        self.edit_count
    }

    /// The animators, for uses that change no actor.
    pub(crate) fn untracked_mut(&mut self) -> &mut Slots<Animator> {
        &mut self.list
    }

    /// The animator of a character.
    pub(crate) fn of_mut(&mut self, id: CharacterId) -> Result<&mut Animator> {
        let count = self.len();
        self.get_mut(id.0).ok_or_else(|| no_character(id, count))
    }
}

impl Deref for Animators {
    type Target = Slots<Animator>;

    fn deref(&self) -> &Self::Target {
        &self.list
    }
}

impl DerefMut for Animators {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.edit_count += 1;
        &mut self.list
    }
}
