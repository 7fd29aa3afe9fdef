//! Splitting of primitives so that each part uses few joints.

use super::asset::Character;
use super::pieces;
use super::pieces::{Bounds, MAX_RANGE};
use super::ranges::Ranges;
use super::reach::reaches;
use super::repack::{Offer, Packed, Policy, place, repack};
use crate::error::{Error, Result};
use crate::mesh::{Parts, Primitive};

/// A primitive in parts that each use few palette entries.
///
/// It is a step of [`Character::split`], which the tests check on its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// The parts.
    ///
    /// Together they contain each triangle of the primitive once, and each part keeps the
    /// primitive's order. Their joint indices address ranges of [`Self::palette`]. They keep name,
    /// material and morph targets.
    pub parts: Vec<Primitive>,
    /// For each entry of the parts' palette, its index in the character's palette.
    pub palette: Vec<u32>,
    /// For each part, the indices of its vertices in the primitive, ascending.
    ///
    /// Vertex `i` of part `p` is `vertices[p][i]`. A vertex that several parts use is in each of
    /// them.
    pub vertices: Vec<Vec<u32>>,
    /// The number of entries of [`Self::palette`] that repeat an earlier one.
    pub repeats: usize,
}

/// The result of splitting the primitives of a character, in numbers.
///
/// [`Character::split`] returns it, and so does an import that cuts primitives for 8-bit joint
/// indices ([`Imported::narrowing`](crate::import::Imported::narrowing)).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SplitReport {
    /// The number of primitives that were replaced, because their palette range was too long.
    pub primitives: usize,
    /// The number of parts that replace them.
    pub parts: usize,
    /// The number of vertices added because several parts of a primitive use them.
    pub repeated_vertices: usize,
    /// The number of palette entries that repeat an earlier one.
    pub repeated_entries: usize,
    /// The number of vertex bytes saved by shorter joint indices, after the cost of repeated
    /// vertices. 0 if the vertices take more bytes.
    pub bytes_saved: u64,
    /// For each primitive of the new character, the index of the original primitive.
    pub origins: Vec<usize>,
}

impl SplitReport {
    /// The report for primitives that were repacked.
    pub(crate) fn of(before: &[Primitive], packed: &Packed) -> Self {
        let vertices = |all: &[Primitive]| all.iter().map(Primitive::vertex_count).sum::<usize>();
        let bytes = |all: &[Primitive]| all.iter().map(Primitive::stream_bytes).sum::<u64>();
        let after = &packed.primitives;
        Self {
            primitives: packed.packed,
            parts: packed.parts,
            repeated_vertices: vertices(after).saturating_sub(vertices(before)),
            repeated_entries: packed.repeats,
            bytes_saved: bytes(before).saturating_sub(bytes(after)),
            origins: packed.origins.iter().map(|(number, _)| *number).collect(),
        }
    }
}

impl Primitive {
    /// Cuts the primitive into parts that each use at most `max_joints` palette entries.
    ///
    /// [`Character::split`] does so for all primitives of a character, with the same method and the
    /// same errors. A primitive that uses few enough entries is returned as one part, without the
    /// entries it does not use.
    ///
    /// # Errors
    /// As [`Character::split`]. A primitive that is not from a [`Character`] can also give these:
    ///
    /// - [`Error::Argument`] if the lengths of its streams differ.
    /// - [`Error::NotFound`] for a vertex or entry index that does not exist.
    /// - [`Error::Capacity`] for a range of more than 65,536 entries.
    #[doc(hidden)]
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
    /// Splits every primitive whose palette range is longer than `max_joints`.
    ///
    /// This is for devices or formats with such a limit. The result is the same character with
    /// these primitives replaced by parts, and with a new palette. Every triangle is in exactly one
    /// part, every vertex keeps all its influences, and [skinned](Character::skin_primitive)
    /// positions stay the same bit for bit.
    ///
    /// The palette begins with the entries that the other primitives use. The entries of a part are
    /// a contiguous range of it. The ranges of neighbouring parts overlap in entries that both use.
    /// Other entries that several parts use are repeated.
    ///
    /// A part grows from a triangle by adding the triangles that add the fewest joints, so the
    /// number of parts is close to the minimum. Triangles that follow the same joints count as one
    /// group. The time is linear in the triangles and, if there are few parts, in the groups. In
    /// the worst case it is linear in the joints of all groups. The memory is linear in vertices,
    /// triangles and the joints of all groups.
    ///
    /// # Errors
    /// - [`Error::TriangleJoints`] if a single triangle follows more than `max_joints`.
    /// - [`Error::Argument`] if `max_joints` is 0.
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
        let report = SplitReport::of(&self.model.primitives, &packed);
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
        return Err(Error::out_of_range(
            "max_joints",
            0.0,
            1.0,
            MAX_RANGE as f64,
        ));
    }
    Ok(Bounds {
        max_joints: max_joints.min(MAX_RANGE),
        max_parts: usize::MAX,
        max_listed: usize::MAX,
        is_optional: false,
    })
}

/// Accepts every split at any cost.
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
