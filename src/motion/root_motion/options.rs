//! The options of an extraction, and limits of its work and memory.

use crate::clip::ReferencePose;
use crate::error::Error;
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

/// The most keys that are made.
pub(super) const MAX_KEYS: usize = 1 << 20;

pub(super) fn too_many() -> Error {
    Error::Capacity {
        what: "keys of the root motion",
        asked: MAX_KEYS as u64 + 1,
        cap: MAX_KEYS as u64,
    }
}

/// The work and memory that a series of extractions may use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RootMotionBudget {
    /// The number of products of transforms.
    pub(super) products: u64,
    pub(super) keys: usize,
}

impl RootMotionBudget {
    /// The budget for a single clip: a few seconds of work. Real clips need a hundredth of it.
    pub(super) const CLIP: Self = Self {
        products: 1 << 26,
        keys: MAX_KEYS,
    };
    /// The budget for all clips of a description: a few of the longest, or hundreds of real ones.
    pub(crate) const DESCRIPTION: Self = Self {
        products: 8 * Self::CLIP.products,
        keys: 4 * Self::CLIP.keys,
    };
}
