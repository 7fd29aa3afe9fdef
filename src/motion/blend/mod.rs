//! Blending of local poses: levels of weighted means and added differences, joint by joint.
//!
//! On one level of poses that are not additive, this is the rule of ozz-animation's `BlendingJob`,
//! with its threshold. More levels apply further layers over it.

mod joint;
mod layers;

pub(crate) use joint::{JointPart, blend_joint};
pub use layers::{BLEND_THRESHOLD, PoseLayer, blend};
