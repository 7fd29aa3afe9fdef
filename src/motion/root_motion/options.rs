//! The options of an extraction of root motion, and its report.

use crate::id::Id;
use crate::skeleton::{Joint, Transform};
use glam::BVec3;

/// The reference position of a motion: where the clip in place keeps the joint.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum RootReference<'a> {
    /// The joint at the clip's time 0. The motion then starts at the identity.
    #[default]
    Start,
    /// The joint in the rest pose.
    Rest,
    /// The joint in this local pose of the whole skeleton.
    Pose(&'a [Transform]),
}

/// Options of [`RootMotion::extract`](crate::motion::RootMotion::extract): the parts of the motion
/// to extract.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RootMotionOptions<'a> {
    /// The joint whose motion is extracted. [`Skeleton::joint`](crate::skeleton::Skeleton::joint)
    /// finds it by name.
    ///
    /// `None` selects the topmost joint that the clip moves or rotates. Of several, it is the first
    /// in the skeleton's order.
    pub joint: Option<Id<Joint>>,
    /// The axes of character space along which translation is extracted.
    ///
    /// The default is x and z, along the ground.
    pub axes: BVec3,
    /// Extracts the rotation about +Y, if true. This is the default.
    pub yaw: bool,
    /// The reference position of the motion.
    pub reference: RootReference<'a>,
    /// The maximum error in metres, if the joint needs new keys.
    ///
    /// It is measured at a point whose distance from the joint is the size of the character. `None`
    /// is 0.1 mm for a character of 1.8 m, scaled by the largest edge of
    /// [`Character::rest_bounds`](crate::character::Character::rest_bounds). It is never less than
    /// 2e-6 of the largest distance from the origin that takes part, which is the precision of
    /// `f32`.
    pub error_m: Option<f32>,
}

impl Default for RootMotionOptions<'_> {
    fn default() -> Self {
        Self {
            joint: None,
            axes: BVec3::new(true, false, true),
            yaw: true,
            reference: RootReference::Start,
            error_m: None,
        }
    }
}

/// The result of an extraction of root motion.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RootMotionReport {
    /// The number of keys of the motion. 0 if there is no motion.
    pub keys: usize,
    /// True if the joint's keys were rewritten.
    ///
    /// Rewriting is exact except for rounding. If false, the joint has new keys.
    pub exact: bool,
    /// The largest error measured between new keys, in metres.
    ///
    /// See [`RootMotionOptions::error_m`]. It is 0 if nothing was resampled.
    pub error_m: f64,
}
