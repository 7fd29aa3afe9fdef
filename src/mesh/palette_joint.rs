//! Palette entries: joints with inverse bind matrices.

use super::aabb::Aabb;
use crate::id::Id;
use crate::skeleton::Joint;
use glam::Affine3A;

/// One entry of a character's palette: a joint and its inverse bind matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PaletteJoint {
    /// The joint that this entry follows.
    pub joint: Id<Joint>,
    /// The transform from mesh space to the joint's space at bind time.
    pub inverse_bind: Affine3A,
    /// True if the skinning matrix is flipped in the rest pose.
    ///
    /// A flipped matrix has a negative determinant.
    pub flipped: bool,
    /// True if clips or their blends may flip the entry.
    ///
    /// Flipping is relative to the rest pose. It is possible if a clip drives a scale of the joint
    /// or an ancestor to the opposite sign. The test is conservative because it uses the ranges of
    /// the scale tracks: it is never false if the sign does change. Poses that the caller supplies
    /// are not considered.
    pub may_flip: bool,
    /// Bounds of every vertex that this entry influences, in mesh (bind) space.
    ///
    /// Morph targets are not included. A posed vertex is a convex combination of its entries'
    /// transformed positions, so the union of these boxes, each transformed by its skinning matrix,
    /// bounds the posed character.
    pub bounds: Aabb,
}
