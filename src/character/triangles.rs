//! Kinds of triangles, which draws tell apart.

use super::Character;
use crate::mesh::{PaletteJoint, Primitive};
use crate::skeleton::NO_PARENT;
use std::collections::BTreeMap;

impl Primitive {
    /// Which triangles are rigid: each of the three vertices has one influence only, with all the
    /// weight. One a triangle.
    #[must_use]
    pub fn rigid_triangles(&self) -> Vec<bool> {
        let per_vertex = self.influences.per_vertex as usize;
        // The strongest comes first.
        let weights = &self.influences.weights;
        let is_rigid = |vertex: &u32| {
            let strongest = weights.get(*vertex as usize * per_vertex);
            strongest.is_none_or(|weight| *weight == u16::MAX)
        };
        self.of_triangles(|triangle| triangle.iter().all(is_rigid))
    }

    fn of_triangles(&self, is: impl Fn(&[u32; 3]) -> bool) -> Vec<bool> {
        self.indices.as_chunks::<3>().0.iter().map(is).collect()
    }
}

/// How it is known which side of a triangle is its front.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Facing {
    /// By its winding.
    #[default]
    Steady,
    /// By its winding, unless this entry of the character's palette mirrors where it does not at
    /// rest, or the other way round: then by the winding reversed.
    Flips(u32),
    /// Not for every pose: its corners follow entries that turn over at different times, or not at
    /// all, or blend such entries. Both sides are to be drawn.
    Unknown,
}

/// The part of a vertex's weight that what it mostly follows has at least, for that to decide for
/// the vertex. The sign of a blended determinant is that of its largest part if the others are
/// small; in between it depends on the pose.
const DECIDES: f32 = 0.9;

impl Character {
    /// Which triangles of `primitive`, one of this character's, may turn over against the rest pose
    /// when posed, one a triangle: those whose [`Self::facings`] are not [`Facing::Steady`]. All
    /// other triangles keep the winding that [`Primitive::indices`] gives them.
    #[must_use]
    pub fn flipping_triangles(&self, primitive: &Primitive) -> Vec<bool> {
        let facings = self.facings(primitive).into_iter();
        facings.map(|facing| facing != Facing::Steady).collect()
    }

    /// How it is known which side of each triangle of `primitive`, one of this character's, is its
    /// front: one a triangle.
    ///
    /// A vertex follows what has nine tenths of its weight: entries that never turn over, or those
    /// that turn over together ([`PaletteJoint::may_flip`](crate::mesh::PaletteJoint::may_flip) says
    /// which may). A triangle whose corners follow the same is known; others, and those with a
    /// vertex that follows nothing so clearly, are not. Nor is a vertex whose entries are not in
    /// this character's palette.
    #[must_use]
    pub fn facings(&self, primitive: &Primitive) -> Vec<Facing> {
        let range = self.palette_range(primitive);
        let entries = self.model.palette.get(range).unwrap_or_default();
        let kept = !entries.iter().any(|entry| entry.may_flip)
            && entries.windows(2).all(|e| e[0].mirrored == e[1].mirrored);
        if kept && !entries.is_empty() {
            return vec![Facing::Steady; primitive.indices.len() / 3];
        }
        let deciders = self.deciders(primitive);
        let of_vertex = |vertex| vertex_facing(primitive, entries, &deciders, vertex);
        let vertices: Vec<Facing> = (0..primitive.vertex_count()).map(of_vertex).collect();
        let of_triangle = |corners: &[u32; 3]| {
            let [a, b, c] = corners.map(|corner| vertices[corner as usize]);
            if a == b && b == c { a } else { Facing::Unknown }
        };
        primitive
            .indices
            .as_chunks::<3>()
            .0
            .iter()
            .map(of_triangle)
            .collect()
    }

    /// For each entry of the primitive's range of the palette that may turn over: the first entry
    /// of the range that turns over whenever it does. Entries do so together if the same joint is
    /// the nearest above them whose scale a clip drives.
    fn deciders(&self, primitive: &Primitive) -> Vec<Option<u32>> {
        // Parents come first.
        let mut nearest: Vec<Option<u16>> = Vec::with_capacity(self.model.skeleton.len());
        let joints = self
            .model
            .skeleton
            .joints()
            .iter()
            .zip(self.scales.driven());
        for (index, (joint, scaled)) in (0..).zip(joints) {
            nearest.push(match joint.parent_index() {
                _ if scaled => Some(index),
                NO_PARENT => None,
                parent => nearest[usize::from(parent)],
            });
        }
        let mut first: BTreeMap<u16, u32> = BTreeMap::new();
        let range = self.palette_range(primitive);
        let entries = self.model.palette.get(range).unwrap_or_default();
        (primitive.palette.start..)
            .zip(entries)
            .map(|(number, entry)| {
                let joint = nearest.get(usize::from(entry.joint)).copied().flatten();
                let joint = joint.filter(|_| entry.may_flip)?;
                Some(*first.entry(joint).or_insert(number))
            })
            .collect()
    }
}

/// What a vertex follows: a vertex that blends mirrored and unmirrored entries follows neither,
/// unless one side has nearly all of its weight.
fn vertex_facing(
    primitive: &Primitive,
    entries: &[PaletteJoint],
    deciders: &[Option<u32>],
    vertex: usize,
) -> Facing {
    let (mut parts, mut used) = ([(Facing::Unknown, false, 0.0_f32); 8], 0);
    for (joint, weight) in primitive.influences.of(vertex).filter(|of| of.1 > 0.0) {
        let (Some(entry), Some(decider)) = (entries.get(joint), deciders.get(joint)) else {
            return Facing::Unknown;
        };
        let facing = decider.map_or(Facing::Steady, Facing::Flips);
        let key = (facing, entry.mirrored);
        let known = parts
            .iter()
            .take(used)
            .position(|part| (part.0, part.1) == key);
        // More kinds than there is room for have no nine tenths among them: the strongest come
        // first.
        if let Some(part) = parts.get_mut(known.unwrap_or(used)) {
            *part = (facing, entry.mirrored, part.2 + weight);
            used += usize::from(known.is_none());
        }
    }
    let heaviest = parts.iter().take(used).max_by(|a, b| a.2.total_cmp(&b.2));
    heaviest
        .filter(|part| part.2 >= DECIDES)
        .map_or(Facing::Unknown, |part| part.0)
}
