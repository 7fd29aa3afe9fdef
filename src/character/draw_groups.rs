//! Groups a primitive's triangles by front face and rigidity into draws.

use super::Character;
use super::triangles::Facing;
use crate::mesh::{AlphaMode, Primitive, VertexReuse, shaded_vertices};
use std::collections::BTreeMap;

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

    /// The number of draws for a group of instances that show all parts.
    ///
    /// All instances of a group share each draw, so this does not depend on their number. It is the
    /// length of `SkinnedMesh::draws`: one for each primitive, one more if enough of its triangles
    /// follow one joint alone and others do not, and more for triangles that clips may flip.
    /// Passes that leave out some materials, and instances that hide parts, need fewer.
    ///
    /// ```
    /// use throng::import::{ImportOptions, RawCharacter};
    ///
    /// let mannequin = RawCharacter::mannequin().build(&ImportOptions::default())?;
    /// // Most of its head follows one joint.
    /// assert_eq!(mannequin.draw_count(), 2);
    /// # Ok::<(), throng::Error>(())
    /// ```
    #[must_use]
    #[doc(alias = "draw calls")]
    pub fn draw_count(&self) -> usize {
        self.drawing().0
    }

    /// The number of times that drawing an instance once shades vertices.
    ///
    /// The draws are those of [`Self::draw_count`].
    ///
    /// ```
    /// use throng::import::{ImportOptions, RawCharacter};
    ///
    /// let mannequin = RawCharacter::mannequin().build(&ImportOptions::default())?;
    /// assert!(mannequin.vertex_reuse().ratio() < 1.15);
    /// # Ok::<(), throng::Error>(())
    /// ```
    #[must_use]
    pub fn vertex_reuse(&self) -> VertexReuse {
        self.drawing().1
    }

    /// The number of draws, and how often they shade vertices.
    pub(crate) fn drawing(&self) -> (usize, VertexReuse) {
        let mut draws = 0;
        let mut reuse = VertexReuse::default();
        for primitive in self.primitives() {
            let (indices, groups) = self.draw_groups(primitive, 0);
            let mut rest = indices.as_slice();
            for (group, count) in groups {
                let (own, others) = rest.split_at(count as usize);
                let shaded = shaded_vertices(own, primitive.vertex_count());
                reuse.shaded += shaded * group.draws() as u64;
                draws += group.draws();
                rest = others;
            }
            reuse.vertices += primitive.vertex_count() as u64;
        }
        (draws, reuse)
    }
}
