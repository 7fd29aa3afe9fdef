//! Which triangles of a primitive are drawn together: those that go through the same pipeline, with the
//! same front face.

use crate::character::{AlphaMode, Character, NO_PARENT, Primitive, RawClip, TrackValues};
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
    pub(crate) front: Front,
    /// Whether each of their vertices follows one joint only.
    pub(crate) rigid: bool,
}

/// How it is known which side of a triangle is its front.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Front {
    /// By its winding.
    #[default]
    Steady,
    /// By its winding, unless this palette entry mirrors where it does not at rest, or the other way round.
    Flips(u32),
    /// Not at all: its vertices blend entries that mirror and entries that don't. Both sides are drawn.
    Unknown,
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
/// What is blended stays in the primitive's own order where no triangle can turn over, since that is the order in which
/// its author had it drawn; it counts as rigid if all of it is.
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
    let flipping = character.flipping_triangles(primitive);
    let deciders = deciders(character, primitive);
    let mut groups: BTreeMap<Group, Vec<u32>> = BTreeMap::new();
    let triangles = primitive.indices.as_chunks::<3>().0.iter();
    for (triangle, (rigid, flips)) in triangles.zip(rigid.into_iter().zip(flipping)) {
        let front = if flips {
            front(primitive, &deciders, triangle)
        } else {
            Front::Steady
        };
        let group = groups.entry(Group { front, rigid }).or_default();
        group.extend(triangle);
    }
    let counts = groups
        .iter()
        .map(|(group, indices)| (*group, indices.len() as u32))
        .collect();
    (groups.into_values().flatten().collect(), counts)
}

/// For each entry of the primitive's range of the palette that may turn over: the first entry of the range that turns
/// over whenever it does. Entries do so together if the same joint is the nearest above them whose scale a clip
/// drives.
fn deciders(character: &Character, primitive: &Primitive) -> Vec<Option<u32>> {
    let skeleton = character.skeleton();
    let mut scaled = vec![false; skeleton.len()];
    for track in character.clips().iter().flat_map(RawClip::tracks) {
        if matches!(track.values, TrackValues::Scale(_)) {
            scaled[usize::from(track.joint)] = true;
        }
    }
    // Parents come first.
    let mut nearest: Vec<Option<u16>> = Vec::with_capacity(scaled.len());
    for (index, (joint, scaled)) in (0..).zip(skeleton.joints().iter().zip(scaled)) {
        nearest.push(match joint.parent {
            _ if scaled => Some(index),
            NO_PARENT => None,
            parent => nearest[usize::from(parent)],
        });
    }
    let mut first: BTreeMap<u16, u32> = BTreeMap::new();
    let range = character.palette_range(primitive);
    let entries = character.palette().get(range).unwrap_or_default();
    (primitive.palette.start..)
        .zip(entries)
        .map(|(number, entry)| {
            let joint = nearest.get(usize::from(entry.joint)).copied().flatten();
            let joint = joint.filter(|_| entry.may_flip)?;
            Some(*first.entry(joint).or_insert(number))
        })
        .collect()
}

/// The entry that decides for a triangle: that of the strongest influence which may turn over.
fn front(primitive: &Primitive, deciders: &[Option<u32>], triangle: &[u32; 3]) -> Front {
    let influences = triangle
        .iter()
        .flat_map(|vertex| primitive.influences.of(*vertex as usize));
    let deciding = influences.filter_map(|(joint, weight)| {
        let decider = deciders.get(joint).copied().flatten()?;
        (weight > 0.0).then_some((weight, decider))
    });
    deciding
        .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))
        .map_or(Front::Unknown, |(_, decider)| Front::Flips(decider))
}
