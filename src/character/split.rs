//! Splitting primitives so that each part uses few joints.

use super::asset::Character;
use super::pieces;
use super::pieces::{Bounds, MAX_RANGE};
use super::ranges::Ranges;
use super::reach::reaches;
use super::repack::{Offer, Policy, place, repack};
use crate::error::{ArgumentFault, Error, Result};
use crate::mesh::{Parts, Primitive};

/// A primitive in parts that each use few palette entries: what [`Primitive::split`] returns.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// The parts. Together they have each triangle of the primitive once, each part in the
    /// primitive's order. Their joint indices address ranges of [`Self::palette`]; they keep name,
    /// material and morph targets.
    pub parts: Vec<Primitive>,
    /// For each entry of the parts' palette, which entry of the character's palette it is.
    pub palette: Vec<u32>,
    /// For each part, which vertices of the primitive it has, ascending: vertex `i` of part `p` is
    /// `vertices[p][i]`. Those that several parts use are in each of them.
    pub vertices: Vec<Vec<u32>>,
    /// How many entries of [`Self::palette`] stand there for the second time or more.
    pub repeats: usize,
}

/// What [`Character::split`] did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SplitReport {
    /// How many primitives had a longer palette range than allowed.
    pub primitives: usize,
    /// How many there are in their place.
    pub parts: usize,
    /// How many vertices there are more: those that several parts of a primitive use.
    pub repeated_vertices: usize,
    /// How many palette entries stand there for the second time or more.
    pub repeated_entries: usize,
    /// For each primitive of the new character, which primitive of the old one it is or is part of.
    pub origins: Vec<usize>,
}

impl Primitive {
    /// Cuts the primitive into parts that each use at most `max_joints` palette entries, for
    /// devices or formats that have a limit. Every triangle is in exactly one part, every vertex
    /// keeps all its influences, and [skinned](crate::skin::skin) positions stay the same bit for
    /// bit.
    ///
    /// A part's entries are a contiguous range of a new palette; neighbouring parts share the ends
    /// of their ranges where they share entries, and other shared entries are repeated. A primitive
    /// that uses few enough entries comes back as one part, without those that it does not use.
    ///
    /// Parts grow from a triangle by the triangles that add the fewest joints, so there are nearly
    /// as few as there can be. Triangles that follow the same joints count as one group. The time
    /// grows with the triangles and, parts being few, with the groups; it is linear in the joints
    /// of all groups at worst. The memory grows with vertices, triangles, and the joints of all
    /// groups.
    ///
    /// # Errors
    /// [`Error::TriangleJoints`] if a triangle alone follows more than `max_joints`;
    /// [`Error::Argument`] if `max_joints` is 0. For primitives that no [`Character`] has also if
    /// streams differ in length, [`Error::NotFound`] for an index of a vertex or entry that does
    /// not exist, and [`Error::Capacity`] for a range of more than 65,536 entries.
    pub fn split(&self, max_joints: usize) -> Result<Split> {
        let bounds = unbounded(max_joints)?;
        let cut = pieces::cut(self, bounds)?.unwrap_or_default();
        let mut ranges = Ranges::new(self.palette.len());
        let placed = place(&cut, bounds.max_joints, &mut ranges);
        let (parts, vertices) = pieces::primitives(self, &cut, &placed, &ranges.order, 0);
        let mut distinct = ranges.order.clone();
        distinct.sort_unstable();
        distinct.dedup();
        Ok(Split {
            parts,
            vertices,
            repeats: ranges.order.len() - distinct.len(),
            palette: ranges
                .order
                .iter()
                .map(|joint| self.palette.start + joint)
                .collect(),
        })
    }
}

impl Character {
    /// The same character with every primitive [split](Primitive::split) whose palette range is
    /// longer than `max_joints`, over a palette that is rebuilt: what the other primitives use
    /// first, then the parts' ranges, which share what they can.
    ///
    /// # Errors
    /// As [`Primitive::split`].
    pub fn split(&self, max_joints: usize) -> Result<(Self, SplitReport)> {
        let bounds = unbounded(max_joints)?;
        let Some(packed) = repack(self, &Always(bounds))? else {
            let origins = (0..self.model.primitives.len()).collect();
            let report = SplitReport {
                origins,
                ..SplitReport::default()
            };
            return Ok((self.clone(), report));
        };
        let count = |all: &[Primitive]| all.iter().map(Primitive::vertex_count).sum::<usize>();
        let report = SplitReport {
            primitives: packed.packed,
            parts: packed.parts,
            repeated_vertices: count(&packed.primitives)
                .saturating_sub(count(&self.model.primitives)),
            repeated_entries: packed.repeats,
            origins: packed.origins.iter().map(|(number, _)| *number).collect(),
        };
        let mut character = self.clone();
        let model = &mut character.model;
        model.palette = packed.palette;
        model.morph_reaches = reaches(&packed.primitives);
        model.parts = Parts::new(&packed.primitives);
        model.primitives = packed.primitives;
        Ok((character, report))
    }
}

fn unbounded(max_joints: usize) -> Result<Bounds> {
    if max_joints == 0 {
        let why = ArgumentFault::OutOfRange {
            value: 0.0,
            min: 1.0,
            max: MAX_RANGE as f64,
        };
        return Err(Error::Argument {
            what: "max_joints",
            why,
        });
    }
    Ok(Bounds {
        max_joints: max_joints.min(MAX_RANGE),
        max_parts: usize::MAX,
        max_listed: usize::MAX,
        is_optional: false,
    })
}

/// All are split, whatever it costs.
struct Always(Bounds);

impl Policy for Always {
    fn max_joints(&self) -> usize {
        self.0.max_joints
    }

    fn bounds(&self, _: &Primitive) -> Option<Bounds> {
        Some(self.0)
    }

    fn accepts(&self, _: &Primitive, _: Offer) -> bool {
        true
    }
}
