//! State machines for a character: its skeleton, clips and blend spaces.

use super::Character;
use crate::error::Result;
#[cfg(feature = "toml")]
use crate::state_machine::StateMachineText;
use crate::state_machine::{StateMachine, StateMachineClip, StateMachineDesc};

impl<'c> StateMachineClip<'c> {
    /// The clips of a character, or its curves if it has only those.
    pub(crate) fn all_of(character: &'c Character) -> Vec<Self> {
        let packed = character.clips().iter().map(Self::from);
        let curves = character.curves().iter().skip(packed.len());
        let additive = character.animations().additive();
        let all = packed.chain(curves.map(Self::from)).zip(additive);
        all.map(|(clip, additive)| Self {
            additive: Some(additive),
            ..clip
        })
        .collect()
    }
}

impl StateMachine {
    /// Validates `desc` against a character: its skeleton, clips and blend spaces.
    ///
    /// Masks apply to the skeleton's joints. Clips are found by name; if several have the same
    /// name, the first is used.
    ///
    /// # Errors
    /// [`Error::Description`](crate::Error::Description) with the part of the state machine, its
    /// field and the fault.
    pub fn of(desc: &StateMachineDesc, character: &Character) -> Result<Self> {
        let clips = StateMachineClip::all_of(character);
        let spaces = character.animations().blend_spaces();
        Self::with_spaces(desc, character.skeleton(), &clips, spaces)
    }
}

#[cfg(feature = "toml")]
impl StateMachineText {
    /// [`StateMachine::of`], with errors that name the file and the line.
    ///
    /// # Errors
    /// As [`StateMachine::of`].
    pub fn build(&self, character: &Character) -> Result<StateMachine> {
        let clips = StateMachineClip::all_of(character);
        let spaces = character.animations().blend_spaces();
        self.build_for(character.skeleton(), &clips, spaces)
    }
}
