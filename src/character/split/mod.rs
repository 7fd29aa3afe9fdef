//! Splitting of primitives so that each piece uses few joints.

mod partition;
mod pieces;

use super::asset::Character;
use crate::error::{Error, Result};
use crate::mesh::{
    Aabb, JointIndices, PaletteJoint, Parts, Primitive, bound_entries, hub_reaches, morph_reaches,
};
use pieces::{Piece, Ranges};
use std::ops::Range;

/// The most entries that a primitive's palette range can have, because indices have 16 bits.
const MAX_RANGE: usize = 65_536;

impl Character {
    /// Splits every primitive whose palette range is longer than `max_joints`.
    ///
    /// This is for devices or formats with such a limit. With 256, joint indices have 8 bits, which
    /// saves memory of vertices, but takes more draws and 48 bytes per instance for each repeated
    /// palette entry. The result is the same character with these primitives replaced by pieces,
    /// and with a new palette. Every triangle is in exactly one piece, every vertex keeps all its
    /// influences, and [skinned](Character::skin_primitive) positions stay the same bit for bit.
    ///
    /// The palette begins with the entries that the other primitives use. The entries of a piece
    /// are a contiguous range of it. The ranges of neighbouring pieces overlap in entries that both
    /// use. Other entries that several pieces use are repeated.
    ///
    /// Levels of detail stay if every triangle of a coarser level lies in one piece. Otherwise, all
    /// are left out; [make](Self::with_levels) them after the split. Levels that are meshes of
    /// their own follow joints of the whole palette, so they are left out if it is longer.
    ///
    /// Also returns the index of the original primitive for each primitive of the new character.
    ///
    /// A piece grows from a triangle by adding the triangles that add the fewest joints, so the
    /// number of pieces is close to the minimum. Triangles that follow the same joints count as one
    /// group. The time is linear in the triangles and, if there are few pieces, in the groups. In
    /// the worst case it is linear in the joints of all groups. The memory is linear in vertices,
    /// triangles and the joints of all groups.
    ///
    /// # Errors
    /// - [`Error::TriangleJoints`] if a single triangle follows more than `max_joints`.
    /// - [`Error::Argument`] if `max_joints` is 0.
    pub fn split(&self, max_joints: usize) -> Result<(Self, Vec<usize>)> {
        if max_joints == 0 {
            let max = MAX_RANGE as f64;
            return Err(Error::out_of_range("max_joints", 0.0, 1.0, max));
        }
        let max = max_joints.min(MAX_RANGE);
        let is_long = |primitive: &&Primitive| primitive.palette.len() > max;
        let mut whole = self.clone();
        if self
            .primitives()
            .iter()
            .any(|one| one.is_far() && is_long(&one))
        {
            whole.remove_levels(self.far_levels().start);
        }
        let all = whole.primitives();
        if !all.iter().any(|primitive| is_long(&primitive)) {
            let origins = (0..all.len()).collect();
            return Ok((whole, origins));
        }
        let mut ranges = Ranges::new(whole.palette().len());
        for entry in whole.used_entries(|primitive| !is_long(&primitive)) {
            ranges.push(entry);
        }
        let mut plans: Vec<Option<Plan>> = Vec::with_capacity(all.len());
        for primitive in all {
            let plan = is_long(&primitive).then(|| plan(primitive, max, &mut ranges));
            plans.push(plan.transpose()?);
        }
        let (mut primitives, mut origins) = (Vec::new(), Vec::new());
        for (origin, (primitive, plan)) in all.iter().zip(plans).enumerate() {
            match plan {
                None => primitives.push(moved(primitive, &ranges)),
                Some((pieces, found)) => {
                    let made = pieces::primitives(primitive, &pieces, &found, &ranges.order);
                    primitives.extend(made);
                }
            }
            origins.resize(primitives.len(), origin);
        }
        // All primitives have as many levels.
        let levels = whole.level_count();
        if primitives.iter().any(|one| one.levels.len() != levels) {
            primitives.iter_mut().for_each(|one| one.levels.clear());
        }
        let bare = |entry: &u32| PaletteJoint {
            bounds: Aabb::EMPTY,
            ..whole.palette()[*entry as usize]
        };
        let mut palette: Vec<PaletteJoint> = ranges.order.iter().map(bare).collect();
        bound_entries(&mut palette, &primitives);
        let model = crate::mesh::Model {
            hub_reaches: hub_reaches(whole.skeleton(), &palette, &primitives),
            palette,
            morph_reaches: morph_reaches(&primitives),
            parts: Parts::new(&primitives),
            ..whole
                .model
                .with_meshes(primitives, whole.model.images.clone())
        };
        Ok((whole.with_model(model), origins))
    }

    /// The entries that vertices of these primitives address, ascending.
    fn used_entries(&self, is_one: impl Fn(&Primitive) -> bool) -> Vec<u32> {
        let mut used = vec![false; self.palette().len()];
        for primitive in self.primitives().iter().filter(|one| is_one(one)) {
            let start = primitive.palette.start as usize;
            for index in 0..primitive.joints.len() {
                used[start + primitive.joints.get(index)] = true;
            }
        }
        let used = (0..).zip(used).filter(|(_, used)| *used);
        used.map(|(entry, _)| entry).collect()
    }
}

/// The pieces of a primitive, and their ranges.
type Plan = (Vec<Piece>, Vec<Range<u32>>);

/// Cuts a primitive, and finds a range for each piece, one after the other.
fn plan(primitive: &Primitive, max: usize, ranges: &mut Ranges) -> Result<Plan> {
    let pieces = pieces::cut(primitive, max)?;
    let next = pieces.iter().skip(1).map(|piece| piece.entries.as_slice());
    let next = next.chain([[].as_slice()]);
    let found = pieces.iter().zip(next);
    let found = found.map(|(piece, next)| ranges.find_or_append(&piece.entries, next, max));
    let found = found.collect();
    Ok((pieces, found))
}

/// The primitive with its entries at their first positions, which are in their old order.
fn moved(primitive: &Primitive, ranges: &Ranges) -> Primitive {
    let joints = (0..primitive.joints.len()).map(|index| primitive.joints.get(index) as u32);
    let first = |joint| ranges.first(primitive.palette.start + joint);
    let positions: Vec<u32> = joints.map(first).collect();
    let start = positions.iter().copied().min().unwrap_or(0);
    let end = positions.iter().copied().max().map_or(0, |last| last + 1);
    let mut primitive = primitive.clone();
    primitive.joints = JointIndices::packed(&positions, &(start..end));
    primitive.palette = start..end;
    primitive
}
