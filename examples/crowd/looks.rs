//! Looks: what each person of a model shows of its parts, and models that several files make.

use throng::builtin;
use throng::character::Character;
use throng::import::{ImportOptions, RawCharacter};
use throng::mesh::{PartId, VariantId};
use throng::outfit::OutfitOptions;

use super::Result;
use super::people::{KINDS, wardrobe};
use super::rng::Rng;

/// Sets of parts of which a person shows one, or none.
#[derive(Debug)]
struct Choice {
    sets: Vec<Vec<PartId>>,
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
        let part = |name: &str| character.part(name).map(|part| vec![part]);
        let mut choices = vec![Choice {
            sets: bodies.map(part).collect::<Result<_, _>>()?,
            none: 0.0,
        }];
        for (names, none) in clothes {
            let sets = names.iter().map(|name| part(name));
            let sets = sets.collect::<Result<_, _>>()?;
            choices.push(Choice { sets, none });
        }
        let variants = character.variants().len();
        Ok((character, Self { choices, variants }))
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
            let shown = Some(rng.below(choice.sets.len())).filter(|_| !is_none);
            let sets = choice.sets.iter().enumerate();
            let others = sets.filter(|(at, _)| shown != Some(*at));
            hidden.extend(others.flat_map(|(_, set)| set));
        }
        hidden
    }
}

/// The parts that something carries, by the name of its joint.
type Carried = Vec<(Box<str>, Vec<PartId>)>;

/// The files of one skeleton as one character, with what each of them is made of.
#[derive(Debug)]
pub(crate) struct Wardrobe {
    pub(crate) character: Character,
    /// For each file, what it has that is not carried.
    bodies: Vec<Vec<PartId>>,
    carried: Carried,
}

impl Wardrobe {
    pub(crate) fn new(character: Character) -> Self {
        let (body, carried) = sorted(&character);
        Self {
            bodies: vec![body],
            carried,
            character,
        }
    }

    /// Adds the parts of another file. Returns false if one of them does not fit the skeleton.
    pub(crate) fn add(&mut self, other: &Character) -> bool {
        let options = OutfitOptions::default();
        let merged = self.character.with_parts_of(other, &options);
        let Some((character, report)) = merged.ok().filter(|(_, it)| it.left_out.is_empty()) else {
            return false;
        };
        // All of its parts were added, in their order.
        let added = report.added.iter().map(|added| added.part);
        let pairs: Vec<_> = other.parts().map(|(part, _)| part).zip(added).collect();
        let here = |parts: Vec<PartId>| {
            let added = pairs.iter().filter(move |(part, _)| parts.contains(part));
            added.map(|(_, added)| *added)
        };
        let (body, carried) = sorted(other);
        self.bodies.push(here(body).collect());
        for (by, parts) in carried {
            let parts = here(parts);
            match self.carried.iter_mut().find(|(joint, _)| *joint == by) {
                Some((_, all)) => all.extend(parts),
                None => self.carried.push((by, parts.collect())),
            }
        }
        self.character = character;
        true
    }

    /// The choices of everyone: one of the bodies, at most one of the parts that one joint carries,
    /// such as the weapons in a hand, and a material variant.
    pub(crate) fn looks(self) -> Looks {
        let bodies = Choice {
            sets: self.bodies,
            none: 0.0,
        };
        let carried = self.carried.into_iter().map(|(_, parts)| Choice {
            sets: parts.into_iter().map(|part| vec![part]).collect(),
            none: 0.3,
        });
        let choices = Some(bodies).filter(|bodies| bodies.sets.len() > 1);
        Looks {
            choices: choices.into_iter().chain(carried).collect(),
            variants: self.character.variants().len(),
        }
    }
}

/// The parts of the body, and those that something carries: each of them follows one joint, which
/// bends nothing else.
fn sorted(character: &Character) -> (Vec<PartId>, Carried) {
    let joints = character.skeleton().joints();
    let skinned: Vec<_> = character.skins().flat_map(|(_, joints)| joints).collect();
    let carrier = |name: &str| {
        let mut primitives = character.primitives().iter();
        let primitive = primitives.find(|one| *one.part == *name)?;
        let [entry] = &character.palette()[character.palette_range(primitive)] else {
            return None;
        };
        let parent = joints[entry.joint.index()].parent?;
        (!skinned.contains(&&entry.joint)).then(|| joints[parent.index()].name.clone())
    };
    let (mut body, mut carried) = (Vec::new(), Carried::new());
    for (part, name) in character.parts() {
        match carrier(name) {
            None => body.push(part),
            Some(by) => match carried.iter_mut().find(|(joint, _)| *joint == by) {
                Some((_, parts)) => parts.push(part),
                None => carried.push((by, vec![part])),
            },
        }
    }
    (body, carried)
}
