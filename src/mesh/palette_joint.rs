//! Entries of a palette: joints with inverse bind matrices.

use super::aabb::Aabb;
use crate::ids::JointId;
use crate::skeleton::Affine;

/// One entry of a character's palette: a joint and the inverse bind matrix that goes with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PaletteJoint {
    /// The joint that it follows.
    pub joint: JointId,
    /// Mesh space to the joint's space at bind time.
    pub inverse_bind: Affine,
    /// Whether its skinning matrix mirrors in the rest pose: has a negative determinant.
    pub mirrored: bool,
    /// Whether some pose of a clip, or of a blend of clips, may mirror where the rest pose does
    /// not, or the other way round: the joint or an ancestor of it has a scale that a clip drives
    /// to another sign. Conservative: told from the ranges of the scale tracks, and never false
    /// where the sign does change. Poses that a caller makes are not looked at.
    pub may_flip: bool,
    /// Box around every vertex that this entry influences, in mesh (bind) space, without morph
    /// targets. A posed vertex is a convex combination of its entries' images, so the union of
    /// these boxes under the palette bounds the posed character.
    pub bounds: Aabb,
}
