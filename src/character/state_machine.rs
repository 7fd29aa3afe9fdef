//! State machines for a character: its skeleton, clips and blend spaces.

use super::Character;
#[cfg(feature = "toml")]
use crate::error::Result;
use crate::state_machine::StateMachineClip;
#[cfg(feature = "toml")]
use crate::state_machine::{StateMachine, StateMachineText};
use glam::DVec3;

impl<'c> StateMachineClip<'c> {
    /// The clips of a character, or its curves if it has only those.
    pub(crate) fn all_of(character: &'c Character) -> Vec<Self> {
        let packed = character.clips().iter().map(|clip| (true, clip.into()));
        let curves = character.curves().iter().skip(packed.len());
        let all = packed.chain(curves.map(|curve| (false, curve.into())));
        all.zip(&character.animations.clips)
            .map(|((is_packed, clip), of): ((bool, Self), _)| {
                let velocity = of.ground_velocity();
                // Gaits are measured on packed clips.
                let is_known = is_packed || velocity != DVec3::ZERO;
                Self {
                    additive: Some(of.additive),
                    ground_velocity: is_known.then_some(velocity),
                    ..clip
                }
            })
            .collect()
    }
}

#[cfg(feature = "toml")]
impl StateMachine {
    /// Validates the text of a state machine against a character: its skeleton, clips and blend
    /// spaces.
    ///
    /// Masks apply to the skeleton's joints. Clips are found by name; if several have the same
    /// name, the first is used. Errors name `file` and the line.
    /// [`Character::with_animation`] does the same for a
    /// [`StateMachineDesc`](crate::state_machine::StateMachineDesc), without lines, and gives the
    /// character the state machine.
    ///
    /// ```
    /// use throng::state_machine::StateMachine;
    ///
    /// let text = r#"
    /// parameter = [{ name = "speed", kind = "float", min = 0.0 }]
    ///
    /// [[layer]]
    /// name = "body"
    /// entry = "stand"
    /// state = [
    ///     { name = "stand", motion = { clip = "Idle" } },
    ///     { name = "go", motion = { clip = "Walk" } },
    /// ]
    /// transition = [
    ///     { from = "stand", to = "go", when = ["speed > 0.1"], fade_s = 0.25 },
    ///     { from = "go", to = "stnad", when = ["speed <= 0.1"], fade_s = 0.25 },
    /// ]
    /// "#;
    /// let character = throng::builtin::mannequin()?.character;
    /// let error = StateMachine::from_toml("hero.toml", text, &character).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "hero.toml:13: layer \"body\", transition 1 \"go\" → \"stnad\", to: \
    ///      state \"stnad\" does not exist: there are stand, go"
    /// );
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Description`](crate::Error::Description) with the part of the state machine, its
    /// field and the fault.
    #[cfg_attr(docsrs, doc(cfg(feature = "toml")))]
    pub fn from_toml(file: &str, text: &str, character: &Character) -> Result<Self> {
        let clips = StateMachineClip::all_of(character);
        let spaces = character.blend_spaces();
        StateMachineText::of(file, text)?.build(character.skeleton(), &clips, spaces)
    }
}
