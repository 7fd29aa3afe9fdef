//! Parts of a character that can be shown and hidden by name.

use super::primitive::Primitive;
use crate::error::{Error, Result};
use crate::id::unknown;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// A part of a character: all primitives of a node, or one of them.
///
/// See [`Character::part`](crate::character::Character::part).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PartId(u16);

impl PartId {
    /// The number of primitives that can be hidden individually. The pieces of a split primitive
    /// count as one.
    pub const MAX_HIDEABLE: usize = 128;

    /// The index in [`Character::parts`](crate::character::Character::parts).
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Debug, Clone, PartialEq)]
struct Part {
    name: Box<str>,
    /// One bit for each of its primitives.
    bits: u128,
    /// The number of bits needed, if it exceeds the number available.
    past: Option<usize>,
}

/// The parts of a character: its nodes, then the primitives of nodes that have several.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Parts(Vec<Part>);

impl Parts {
    pub(crate) fn new(primitives: &[Primitive]) -> Self {
        let atoms = atoms(primitives).list;
        let mut parts: Vec<Part> = Vec::new();
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        let mut siblings: BTreeMap<&str, usize> = BTreeMap::new();
        let of = |name: &str, number: usize| Part {
            name: name.into(),
            bits: bit(number),
            past: (number >= PartId::MAX_HIDEABLE).then_some(number + 1),
        };
        for (number, atom) in atoms.iter().enumerate() {
            *siblings.entry(&atom.part).or_default() += 1;
            let next = parts.len();
            match known.entry(&atom.part) {
                Entry::Occupied(at) => {
                    let part = &mut parts[*at.get()];
                    part.bits |= bit(number);
                    part.past = (number >= PartId::MAX_HIDEABLE).then_some(number + 1);
                }
                Entry::Vacant(at) => {
                    at.insert(next);
                    parts.push(of(&atom.part, number));
                }
            }
        }
        for (number, atom) in atoms.iter().enumerate() {
            let next = parts.len();
            if siblings.get(&*atom.part).is_some_and(|count| *count > 1)
                && let Entry::Vacant(at) = known.entry(&atom.name)
            {
                at.insert(next);
                parts.push(of(&atom.name, number));
            }
        }
        Self(parts)
    }
}

/// The bit of each primitive, 0 past [`PartId::MAX_HIDEABLE`]. All pieces of a split primitive have
/// the same bit.
pub(crate) fn part_bits(primitives: &[Primitive]) -> Vec<u128> {
    let numbers = atoms(primitives).numbers;
    numbers.into_iter().map(bit).collect()
}

/// The first of each set of primitives that have both names in common, and for each primitive the
/// index of its set.
struct Atoms<'a> {
    list: Vec<&'a Primitive>,
    numbers: Vec<usize>,
}

fn atoms(primitives: &[Primitive]) -> Atoms<'_> {
    let mut known: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut atoms = Atoms {
        list: Vec::new(),
        numbers: Vec::with_capacity(primitives.len()),
    };
    for primitive in primitives {
        // It replaces all parts, and no instance hides it.
        if primitive.is_far() {
            atoms.numbers.push(usize::MAX);
            continue;
        }
        let next = atoms.list.len();
        let number = *known
            .entry((&primitive.part, &primitive.name))
            .or_insert(next);
        if number == next {
            atoms.list.push(primitive);
        }
        atoms.numbers.push(number);
    }
    atoms
}

fn bit(number: usize) -> u128 {
    if number < PartId::MAX_HIDEABLE {
        1 << number
    } else {
        0
    }
}

impl Parts {
    /// The parts that instances can hide individually, in the order of their ids.
    ///
    /// First come the names of all nodes that have primitives, then the names of the primitives of
    /// those nodes that have several.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (PartId, &str)> {
        let named = |(number, part)| {
            let part: &Part = part;
            (PartId(number), &*part.name)
        };
        (0..).zip(&self.0).map(named)
    }

    /// The bits of a part's primitives.
    pub(crate) fn bits(&self, part: PartId) -> Result<u128> {
        let missing = Error::not_found("part", part.0.into(), self.0.len());
        let part = self.0.get(part.index()).ok_or(missing)?;
        match part.past {
            None => Ok(part.bits),
            Some(asked) => Err(Error::Capacity {
                what: "primitives that can be hidden",
                asked: asked as u64,
                cap: PartId::MAX_HIDEABLE as u64,
            }),
        }
    }

    /// The part with the fewest primitives among those that have the primitive of this bit.
    #[cfg(feature = "vulkan")]
    pub(crate) fn smallest(&self, bit: u128) -> Option<PartId> {
        let with = (0..).zip(&self.0).filter(|(_, part)| part.bits & bit != 0);
        let smallest = with.min_by_key(|(_, part)| part.bits.count_ones());
        smallest.map(|(number, _)| PartId(number))
    }

    /// Finds the part with this name, for `Instance::set_part_visible` and
    /// `Posed::hiding`.
    pub(crate) fn find(&self, name: &str) -> Result<PartId> {
        let found = self.iter().find(|(_, own)| *own == name);
        found
            .map(|(id, _)| id)
            .ok_or_else(|| unknown("part", name, self.iter().map(|(_, own)| own)))
    }
}
