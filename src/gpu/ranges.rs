//! Groups a primitive's triangles by pipeline and front face into draws.

use crate::character::{Character, Facing};
use crate::mesh::{AlphaMode, Primitive};
use std::collections::BTreeMap;

/// The kind of a draw's [`AlphaMode`], which is part of its pipeline's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Blending {
    /// All fragments are written.
    Opaque,
    /// Fragments that the material's alpha mask accepts are written.
    Mask,
    /// Fragments are blended over what lies behind, after everything else.
    Blend,
}

impl Blending {
    pub(crate) const fn of(alpha: AlphaMode) -> Self {
        match alpha {
            AlphaMode::Opaque => Self::Opaque,
            AlphaMode::Mask { .. } => Self::Mask,
            AlphaMode::Blend => Self::Blend,
        }
    }
}

/// The properties that triangles of one draw have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Group {
    pub(crate) facing: Facing,
    /// True if each of their vertices follows only one joint.
    pub(crate) rigid: bool,
}

/// A range of a geometry buffer's indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DrawRange {
    /// In units of the index type, from the start of the buffer.
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// True if indices have 16 bits, otherwise 32.
    pub(crate) narrow: bool,
    pub(crate) group: Group,
}

/// The primitive's indices, group by group, and the number of indices in each group.
///
/// Within a group, triangles keep the primitive's order. If the material is blended and no triangle
/// may flip, all triangles keep it, because their author chose that order. That is why the
/// triangles of a blended primitive count as rigid only if all of them are.
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
