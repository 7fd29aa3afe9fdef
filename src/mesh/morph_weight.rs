//! Morph weights, and the distances by which they move vertices.

use glam::Vec3;

/// The distance by which a morph weight moves the vertices of a palette entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MorphReach {
    /// Index into [`Character::palette`].
    pub(crate) entry: u32,
    /// Index into [`Character::morph_weights`].
    pub(crate) weight: u32,
    /// Metres along each axis of mesh (bind) space, per unit of the weight.
    pub(crate) reach: Vec3,
}

/// A weight that drives one morph target in every primitive of a mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct MorphWeight {
    /// The target's name in the file, or empty.
    pub name: Box<str>,
    /// The name of the node or mesh that has the weight, or empty.
    pub owner: Box<str>,
    /// The value if neither a clip nor the caller sets another.
    pub rest: f32,
}
