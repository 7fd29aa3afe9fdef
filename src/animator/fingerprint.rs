//! The names behind the indices in a snapshot.

use crate::character::Character;
use crate::clip::Clip;
use crate::error::{ArgumentFault, Error, Result};
use crate::hash;
use crate::mesh::Expression;
use crate::motion::BlendSpace;

/// The kinds of things that a snapshot names by index.
const KINDS: [&str; 9] = [
    "joints",
    "clips",
    "masks",
    "blend spaces",
    "event names",
    "expressions",
    "morph weights",
    "spring bones",
    "layers of the state machine",
];

/// For each of [`KINDS`], how many there are, and a hash of their names in order.
///
/// Two characters with equal ones have the same things at the same indices. Durations, curves,
/// meshes and so on may differ.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Fingerprint([(u32, u64); KINDS.len()]);

impl Fingerprint {
    pub(crate) fn new(character: &Character) -> Self {
        let set = character.animation_set();
        let machine = set.state_machine.as_ref();
        let boxed = |names: &'_ [Box<str>]| of(names.iter().map(|name| &**name));
        Self([
            of(character
                .skeleton()
                .joints()
                .iter()
                .map(|joint| &*joint.name)),
            of(character.clips().iter().map(Clip::name)),
            boxed(&set.mask_names),
            of(set.blend_spaces.iter().map(BlendSpace::name)),
            boxed(&set.event_names),
            of(character
                .expressions()
                .iter()
                .map(|expression: &Expression| &*expression.name)),
            of(character.morph_weights().iter().map(|weight| &*weight.name)),
            character.spring_rig().fingerprint(),
            machine.map_or((0, 0), |machine| {
                (machine.layer_count() as u32, machine.fingerprint)
            }),
        ])
    }

    /// Checks that a snapshot with this fingerprint fits a character.
    ///
    /// # Errors
    /// [`Error::Argument`] with the first kind that differs.
    pub(crate) fn check(&self, here: &Self) -> Result<()> {
        let pairs = self.0.iter().zip(&here.0);
        let differs = KINDS
            .iter()
            .zip(pairs)
            .find(|(_, (there, here))| there != here);
        differs.map_or(Ok(()), |(kind, (there, here))| {
            let (got, need) = (there.0, here.0);
            let (what, why) = (
                "snapshot",
                ArgumentFault::OtherCharacter { kind, got, need },
            );
            Err(Error::Argument { what, why })
        })
    }
}

/// The number and the hash of names.
fn of<'a>(names: impl Iterator<Item = &'a str>) -> (u32, u64) {
    let (mut count, mut all) = (0, hash::EMPTY);
    for name in names {
        count += 1;
        all = hash::add(all, name.len() as u64);
        all = name
            .bytes()
            .fold(all, |all, byte| hash::add(all, byte.into()));
    }
    // 63 bits only, because text formats have signed numbers.
    (count, all >> 1)
}
