//! Which triangles of a primitive are drawn together: those that go through the same pipeline, with
//! the same front face.

use crate::character::{Character, Facing};
use crate::mesh::{AlphaMode, Primitive};
use std::collections::BTreeMap;

/// How a draw's fragments reach the attachments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Blending {
    /// All of them.
    #[default]
    Opaque,
    /// Those that the material's mask lets through.
    Mask,
    /// Blended over what lies behind, after everything else.
    Blend,
}

/// What triangles that are drawn together have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Group {
    pub(crate) facing: Facing,
    /// Whether each of their vertices follows one joint only.
    pub(crate) rigid: bool,
}

/// A range of a geometry buffer's indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DrawRange {
    /// In units of the index type, from the start of the buffer.
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// Whether indices have 16 bits, else 32.
    pub(crate) narrow: bool,
    pub(crate) group: Group,
}

/// The primitive's indices, group by group, and how many each group has. The order within a
/// group is the primitive's.
///
/// What is blended stays in the primitive's own order where no triangle can turn over, since that
/// is the order in which its author had it drawn; it counts as rigid if all of it is.
pub(crate) fn sorted(
    character: &Character,
    primitive: &Primitive,
) -> (Vec<u32>, Vec<(Group, u32)>) {
    let mut rigid = primitive.rigid_triangles();
    let material = character.materials().get(primitive.material as usize);
    if material.is_some_and(|material| material.alpha == AlphaMode::Blend) {
        let all = rigid.iter().all(|rigid| *rigid);
        rigid.fill(all);
    }
    let facings = character.facings(primitive);
    let mut groups: BTreeMap<Group, Vec<u32>> = BTreeMap::new();
    let triangles = primitive.indices.as_chunks::<3>().0.iter();
    for (triangle, (rigid, facing)) in triangles.zip(rigid.into_iter().zip(facings)) {
        let group = groups.entry(Group { facing, rigid }).or_default();
        group.extend(triangle);
    }
    let counts = groups
        .iter()
        .map(|(group, indices)| (*group, indices.len() as u32))
        .collect();
    (groups.into_values().flatten().collect(), counts)
}
