//! Palette entries: joints with inverse bind matrices.

use super::bounds::Aabb;
use super::primitive::Primitive;
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

/// Extends the bounds of every entry to the box around the vertices that it moves.
pub(crate) fn bound_entries(palette: &mut [PaletteJoint], primitives: &[Primitive]) {
    for primitive in primitives {
        for (vertex, position) in primitive.positions.iter().enumerate() {
            for (joint, weight) in primitive.influences(vertex) {
                if let (true, Some(entry)) = (
                    weight > 0.0,
                    palette.get_mut(primitive.palette.start as usize + joint),
                ) {
                    entry.bounds = entry.bounds.with_point(*position);
                }
            }
        }
    }
}
