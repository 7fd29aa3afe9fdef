//! Looks: what each person of a model shows of its parts, and a wardrobe for the built-in one.

use throng::builtin;
use throng::character::Character;
use throng::import::{ImportOptions, RawCharacter};
use throng::mesh::{PartId, VariantId};
use throng::outfit::OutfitOptions;

use super::Result;
use super::people::{KINDS, wardrobe};
use super::rng::Rng;

/// Parts of which a person shows one, or none.
#[derive(Debug)]
struct Choice {
    parts: Vec<PartId>,
    /// The probability of none.
    none: f32,
}

/// The choices of a model.
#[derive(Debug, Default)]
pub(crate) struct Looks {
    choices: Vec<Choice>,
    /// The number of material variants.
    variants: usize,
}

impl Looks {
    /// The built-in character with the bodies and clothes of others: one character, whose parts are
    /// those of another file with the same skeleton.
    pub(crate) fn builtin() -> Result<(Character, Self)> {
        let own = builtin::mannequin()?.character;
        let mut raw = RawCharacter::mannequin();
        let clothes = wardrobe(&mut raw)?;
        let other = raw.build(&ImportOptions::curves_only())?;
        let (character, report) = own.with_parts_of(&other, &OutfitOptions::default())?;
        if let Some(part) = report.left_out.first() {
            return Err(part.to_string().into());
        }
        let bodies = own.parts().map(|(_, name)| name);
        let bodies = bodies.take(1).chain(KINDS.iter().map(|kind| kind.name));
        let part = |name: &str| character.part(name);
        let mut choices = vec![Choice {
            parts: bodies.map(part).collect::<Result<_, _>>()?,
            none: 0.0,
        }];
        for (names, none) in clothes {
            let parts = names.iter().map(|name| part(name));
            let parts = parts.collect::<Result<_, _>>()?;
            choices.push(Choice { parts, none });
        }
        let variants = character.variants().len();
        Ok((character, Self { choices, variants }))
    }

    /// The choices of a file: of the parts that one joint carries, such as the weapons in a hand,
    /// at most one is shown; and its material variants.
    pub(crate) fn of(character: &Character) -> Self {
        let joints = character.skeleton().joints();
        let skinned: Vec<_> = character.skins().flat_map(|(_, joints)| joints).collect();
        let mut carried: Vec<(usize, Vec<PartId>)> = Vec::new();
        for (part, name) in character.parts() {
            let Some(primitive) = character.primitives().iter().find(|one| *one.part == *name)
            else {
                continue;
            };
            let [entry] = &character.palette()[character.palette_range(primitive)] else {
                continue;
            };
            let parent = joints[entry.joint.index()].parent;
            let Some(parent) = parent.filter(|_| !skinned.contains(&&entry.joint)) else {
                continue;
            };
            match carried.iter_mut().find(|(by, _)| *by == parent.index()) {
                Some((_, parts)) => parts.push(part),
                None => carried.push((parent.index(), vec![part])),
            }
        }
        let choice = |(_, parts)| Choice { parts, none: 0.3 };
        Self {
            choices: carried.into_iter().map(choice).collect(),
            variants: character.variants().len(),
        }
    }

    /// The material variant of the person with this seed.
    pub(crate) fn variant(&self, seed: u64) -> Option<VariantId> {
        let chosen = Rng::new(seed ^ 0x5EED).below(self.variants + 1);
        chosen.checked_sub(1).map(|at| VariantId::new(at as u16))
    }

    /// The second colour of the person with this seed: that of one of two teams.
    pub(crate) fn second_tint(seed: u64) -> [f32; 3] {
        match seed % 2 {
            0 => [1.0, 0.45, 0.1],
            _ => [0.2, 0.5, 1.0],
        }
    }

    /// The parts that the person with this seed hides.
    pub(crate) fn hidden(&self, seed: u64) -> Vec<PartId> {
        let mut rng = Rng::new(!seed);
        let mut hidden = Vec::new();
        for choice in &self.choices {
            let is_none = rng.unit() < choice.none;
            let shown = Some(rng.below(choice.parts.len())).filter(|_| !is_none);
            let parts = choice.parts.iter().enumerate();
            hidden.extend(
                parts
                    .filter(|(at, _)| shown != Some(*at))
                    .map(|(_, part)| *part),
            );
        }
        hidden
    }
}
