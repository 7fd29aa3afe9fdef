//! The parts of a clip's motion to extract.

use crate::clip::ReferencePose;
use crate::id::Id;
use crate::skeleton::Joint;
use glam::BVec3;

/// The parts of a clip's motion to extract, as in
/// [`RootMotionDesc`](crate::character::RootMotionDesc).
#[derive(Debug, Clone, Copy)]
pub(crate) struct RootMotionOptions<'a> {
    pub(crate) joint: Option<Id<Joint>>,
    /// The axes of character space along which translation is extracted.
    pub(crate) axes: BVec3,
    pub(crate) yaw: bool,
    /// The pose at which the clip in place keeps the joint.
    pub(crate) reference: ReferencePose<'a>,
    /// Positive and finite.
    pub(crate) error_m: Option<f32>,
}
