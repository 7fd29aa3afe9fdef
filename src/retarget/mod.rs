//! Clips and poses of one skeleton on another: other names, other proportions, another rest pose.
//!
//! ```text
//! two skeletons ──JointMap──▶ which joint moves which ──Retarget::new──▶ Retarget ──clip──▶ CurveClip
//!                                                                                 └─pose──▶ local pose
//! ```
//!
//! What moves is the change from the rest pose, in model space, as in M. Gleicher, *Retargetting
//! Motion to New Characters* (SIGGRAPH 1998), without its constraints: feet and hands are not held
//! in place, so a character of other proportions may need inverse kinematics behind it.
//!
//! With the model-space rotations `S` of a joint of the source and `S₀` of its rest pose, a joint
//! of the target turns to
//!
//! ```text
//! T = F · S · S₀⁻¹ · F⁻¹ · A · T₀
//! ```
//!
//! - `T₀` is its own rest rotation;
//! - `F` leads from how the source's body stands in its model space to how the target's does, so
//!   that up axes and facings need not agree; it is found from the joints' places where both are
//!   humanoids, else it is none;
//! - `A` turns its limb as the source's limb points at rest, by the shortest arc, so that an arm
//!   points where the source's does whether it rests in a T, in an A or at the side.
//!
//! Everything is computed in model space and then led back to the parents' spaces. So nodes above
//! the joints with any rotation and scale come out right, joints of the source that move nothing by
//! themselves still count for those below them, and joints of the target that follow none keep
//! their rest transform. Rotations are exact under any scales that do not shear; mirrored ones
//! count.
//!
//! The hips (or, without a humanoid, the joints that follow one and have none such above) also move
//! as the source's do, times the ratio of the two legs' lengths.

mod apply;
mod between;
mod clip;
mod frame;
mod humanoid;
mod map;
mod plan;
mod role;
mod steps;
mod words;

pub use apply::{Retarget, RetargetOptions, Scales, Translations};
pub use clip::RetargetReport;
pub use humanoid::Humanoid;
pub use map::{JointLink, JointMap, UnmatchedRole};
pub use role::{Finger, Role, Side};
