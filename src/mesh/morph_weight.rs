//! Morph weights, and how far they reach.

use crate::ids::JointId;
use glam::Vec3;

/// How far a morph weight moves the vertices that a palette entry influences.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MorphReach {
    /// Index into [`Character::palette`].
    pub(crate) entry: u32,
    /// Index into [`Character::morph_weights`].
    pub(crate) weight: u32,
    /// Metres along each axis of mesh (bind) space, per unit of the weight.
    pub(crate) reach: Vec3,
}

/// A weight that drives a morph target of every primitive of one mesh of a character.
#[derive(Debug, Clone, PartialEq)]
pub struct MorphWeight {
    /// The target's name in the file, or empty.
    pub name: Box<str>,
    /// The name of the node or mesh that it belongs to, or empty.
    pub owner: Box<str>,
    /// Its value where neither a clip nor the caller sets another.
    pub rest: f32,
}

/// What is remembered of a file's skin, for listings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkinInfo {
    /// The skin's name, or empty.
    pub name: Box<str>,
    /// The skin's joints, in the file's order.
    pub joints: Vec<JointId>,
}
