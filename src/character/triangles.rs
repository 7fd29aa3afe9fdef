//! Triangles for drawing: rigid ones, their front faces, and the draws that they are grouped into.

use super::Character;
use crate::mesh::{AlphaMode, PaletteJoint, Primitive, shaded_vertices};
use crate::skeleton::NO_PARENT;
use std::collections::BTreeMap;

impl Primitive {
    /// True for each rigid triangle: each of its vertices has one influence with all the weight.
    pub(crate) fn rigid_of(&self, indices: &[u32]) -> Vec<bool> {
        let per_vertex = self.influences_per_vertex as usize;
        // The strongest influence comes first.
        let weights = &self.weights;
        let is_rigid = |vertex: &u32| {
            let strongest = weights.get(*vertex as usize * per_vertex);
            strongest.is_none_or(|weight| *weight == u16::MAX)
        };
        let triangles = indices.as_chunks::<3>().0.iter();
        triangles
            .map(|triangle| triangle.iter().all(is_rigid))
            .collect()
    }
}

/// The rule that determines the front side of a triangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) enum Facing {
    /// The winding alone.
    #[default]
    Steady,
    /// The winding, flipped if this entry of the character's palette is flipped relative to the
    /// rest pose.
    Flips(u32),
    /// Unknown for some poses, so both sides must be drawn.
    ///
    /// The corners follow entries that flip at different times, follow both entries that flip and
    /// entries that do not, or blend such entries.
    Unknown,
}

/// The minimum weight of a vertex's main influence for it to determine the vertex's facing.
///
/// The sign of a blended determinant is that of its largest part if the others are small. In
/// between, it depends on the pose.
const DECIDES: f32 = 0.9;

impl Character {
    /// Finds the triangles that a pose may flip.
    ///
    /// Flipping is relative to the rest pose. `primitive` is one of this character's. There is one
    /// element per triangle. It is true if an entry that the triangle follows may flip
    /// ([`PaletteJoint::may_flip`](crate::mesh::PaletteJoint::may_flip)), or if its corners follow
    /// entries that do not flip together. All other triangles keep the winding of
    /// [`Primitive::indices`].
    #[must_use]
    pub fn flipping_triangles(&self, primitive: &Primitive) -> Vec<bool> {
        let facings = self.facings(primitive, &primitive.indices).into_iter();
        facings.map(|facing| facing != Facing::Steady).collect()
    }

    /// Determines how to find the front side of each triangle of `indices`.
    ///
    /// `primitive` is one of this character's, and `indices` are those of one of its levels of
    /// detail. There is one element per triangle.
    ///
    /// A vertex follows the entries that have nine tenths of its weight, if they never flip or if
    /// they flip together ([`PaletteJoint::may_flip`](crate::mesh::PaletteJoint::may_flip) marks
    /// entries that may flip). If the corners of a triangle follow the same entries, its facing is
    /// known. Otherwise, or if a corner has no such entries, it is [`Facing::Unknown`]. So is a
    /// triangle with a vertex whose entries are not in this character's palette.
    #[must_use]
    pub(crate) fn facings(&self, primitive: &Primitive, indices: &[u32]) -> Vec<Facing> {
        let range = self.palette_range(primitive);
        let entries = self.model.palette.get(range).unwrap_or_default();
        let kept = !entries.iter().any(|entry| entry.may_flip)
            && entries.windows(2).all(|e| e[0].flipped == e[1].flipped);
        if kept && !entries.is_empty() {
            return vec![Facing::Steady; indices.len() / 3];
        }
        let deciders = self.deciders(primitive);
        let of_vertex = |vertex| vertex_facing(primitive, entries, &deciders, vertex);
        let vertices: Vec<Facing> = (0..primitive.vertex_count()).map(of_vertex).collect();
        let of_triangle = |corners: &[u32; 3]| {
            let [a, b, c] = corners.map(|corner| vertices[corner as usize]);
            if a == b && b == c { a } else { Facing::Unknown }
        };
        let triangles = indices.as_chunks::<3>().0.iter();
        triangles.map(of_triangle).collect()
    }

    /// Groups the entries of the primitive's palette range that flip together.
    ///
    /// For each entry that may flip, this is the first entry of the range that flips whenever it
    /// does. Entries flip together if they have the same nearest ancestor joint (or own joint)
    /// whose scale a clip drives.
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

/// The facing of a vertex. A vertex that blends flipped and unflipped entries has none, unless one
/// kind has nearly all of its weight.
fn vertex_facing(
    primitive: &Primitive,
    entries: &[PaletteJoint],
    deciders: &[Option<u32>],
    vertex: usize,
) -> Facing {
    let (mut parts, mut used) = ([(Facing::Unknown, false, 0.0_f32); 8], 0);
    for (joint, weight) in primitive.influences(vertex).filter(|of| of.1 > 0.0) {
        let (Some(entry), Some(decider)) = (entries.get(joint), deciders.get(joint)) else {
            return Facing::Unknown;
        };
        let facing = decider.map_or(Facing::Steady, Facing::Flips);
        let key = (facing, entry.flipped);
        let known = parts
            .iter()
            .take(used)
            .position(|part| (part.0, part.1) == key);
        // If there are more kinds than the array holds, none of the rest can have nine tenths,
        // because the strongest influences come first.
        if let Some(part) = parts.get_mut(known.unwrap_or(used)) {
            *part = (facing, entry.flipped, part.2 + weight);
            used += usize::from(known.is_none());
        }
    }
    let heaviest = parts.iter().take(used).max_by(|a, b| a.2.total_cmp(&b.2));
    heaviest
        .filter(|part| part.2 >= DECIDES)
        .map_or(Facing::Unknown, |part| part.0)
}

/// The properties that triangles of one draw have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct DrawGroup {
    pub(crate) facing: Facing,
    /// True if each of their vertices follows only one joint.
    pub(crate) rigid: bool,
}

impl DrawGroup {
    /// The number of draws, each with all instances that show the primitive.
    const fn draws(self) -> usize {
        match self.facing {
            // Once with either front face.
            Facing::Flips(_) => 2,
            Facing::Steady | Facing::Unknown => 1,
        }
    }
}

impl Primitive {
    /// True for each triangle of the draw whose vertices follow one joint each.
    ///
    /// If the triangles are blended, or if a second draw saves little, either all triangles are in
    /// this draw or none. Vertices that triangles of both kinds use are shaded in both draws.
    pub(crate) fn rigid_draw(&self, indices: &[u32], blended: bool) -> Vec<bool> {
        let mut rigid = self.rigid_of(indices);
        if rigid.iter().all(|is_rigid| *is_rigid) {
            return rigid;
        }
        let mut used = vec![[false; 2]; self.vertex_count()];
        for (triangle, is_rigid) in indices.as_chunks::<3>().0.iter().zip(&rigid) {
            for vertex in triangle {
                used[*vertex as usize][usize::from(*is_rigid)] = true;
            }
        }
        let count = |wanted: fn(&[bool; 2]) -> bool| {
            let wanted = used.iter().filter(|used| wanted(used));
            wanted.count() as u64
        };
        let alone = count(|used| *used == [false, true]);
        let both = count(|used| *used == [true, true]);
        let blend_loads = loads(self.influences_per_vertex);
        let saved = alone * (blend_loads - loads(1));
        let added = both * loads(1);
        let least = used.len() as u64 * blend_loads / LEAST_SAVED;
        if blended || saved < added + least {
            rigid.fill(false);
        }
        rigid
    }
}

/// A second draw for rigid triangles must save at least 1 in `LEAST_SAVED` loads.
///
/// A draw has a cost of its own, which a few loads do not repay.
const LEAST_SAVED: u64 = 32;

/// The number of 16-byte loads for a vertex with a normal and texture coordinates.
fn loads(influences: u32) -> u64 {
    4 + 3 * u64::from(influences)
}

impl Character {
    /// The primitive's indices at a level of detail, group by group, and the number of indices in
    /// each group. Level 0 is the full one.
    ///
    /// Within a group, triangles keep the primitive's order. If the material is blended and no
    /// triangle may flip, all triangles keep it, because their author chose that order.
    pub(crate) fn draw_groups(
        &self,
        primitive: &Primitive,
        level: usize,
    ) -> (Vec<u32>, Vec<(DrawGroup, u32)>) {
        let material = self.materials().get(primitive.material as usize);
        let blended = material.is_some_and(|material| material.alpha == AlphaMode::Blend);
        let coarser = level.checked_sub(1).and_then(|at| primitive.levels.get(at));
        let indices = coarser.map_or(&primitive.indices, |level| &level.indices);
        let rigid = match coarser {
            Some(level) if level.rigid => vec![true; indices.len() / 3],
            _ => primitive.rigid_draw(indices, blended),
        };
        let facings = self.facings(primitive, indices);
        let mut groups: BTreeMap<DrawGroup, Vec<u32>> = BTreeMap::new();
        let triangles = indices.as_chunks::<3>().0.iter();
        for (triangle, (rigid, facing)) in triangles.zip(rigid.into_iter().zip(facings)) {
            let group = groups.entry(DrawGroup { facing, rigid }).or_default();
            group.extend(triangle);
        }
        let counts = groups
            .iter()
            .map(|(group, indices)| (*group, indices.len() as u32))
            .collect();
        (groups.into_values().flatten().collect(), counts)
    }

    /// The number of draws for a group of instances that show all parts, and how often drawing an
    /// instance once shades vertices.
    pub(crate) fn drawing(&self) -> (usize, u64) {
        let (mut draws, mut all) = (0, 0);
        for primitive in self.primitives() {
            let (indices, groups) = self.draw_groups(primitive, 0);
            let mut rest = indices.as_slice();
            for (group, count) in groups {
                let (own, others) = rest.split_at(count as usize);
                let shaded = shaded_vertices(own, primitive.vertex_count());
                all += shaded * group.draws() as u64;
                draws += group.draws();
                rest = others;
            }
        }
        (draws, all)
    }
}
