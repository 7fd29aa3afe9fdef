//! Retargeting: plays clips and poses of one skeleton on another.
//!
//! ```text
//! two skeletons ──JointMap──▶ joint links ──Retarget::new──▶ Retarget ──clip──▶ CurveClip
//!                                                                     └─pose──▶ local pose
//! ```
//!
//! The skeletons may have different joint names, proportions and rest poses. The transferred
//! quantity is the change from the rest pose, in model space, as in M. Gleicher, *Retargetting
//! Motion to New Characters* (SIGGRAPH 1998), but without its constraints. Feet and hands are not
//! held in place, so a character of other proportions may need inverse kinematics afterwards.
//!
//! Let `S` be the model-space rotation of a source joint, and `S₀` that of its rest pose. A target
//! joint then turns to
//!
//! ```text
//! T = F · S · S₀⁻¹ · F⁻¹ · A · T₀
//! ```
//!
//! - `T₀` is its own rest rotation.
//! - `F` is the rotation from the source body's orientation in its model space to the target
//!   body's, so up axes and facings may differ. It is found from the positions of the joints if
//!   both skeletons are humanoids. Otherwise it is the identity.
//! - `A` turns its limb to the rest direction of the source's limb, by the shortest arc. An arm
//!   then points where the source's arm does, whether its rest pose is a T, an A or at the side.
//!
//! Everything is computed in model space and then converted to the parents' spaces. As a result:
//!
//! - Nodes above the joints may have any rotation and scale.
//! - Source joints that move no target joint themselves still affect the joints below them.
//! - Target joints that follow no source joint keep their rest transform.
//! - Rotations are exact under any scales that do not shear, including flipped ones.
//!
//! The hips also move as the source's do, times the ratio of the two leg lengths. Without a
//! humanoid, this applies to joints that follow one and have no such joint above them.
//!
//! Skeletons of different builds, such as a quadruped and a biped, match in part.
//! [`Retarget::fit`] has the share of joints that found a partner.

mod apply;
mod between;
mod clip;
mod fit;
mod frame;
mod humanoid;
mod map;
mod options;
mod plan;
mod steps;
mod words;

pub use crate::skeleton::role::Role;
pub use apply::Retarget;
pub use clip::RetargetReport;
pub use fit::RetargetFit;
pub use humanoid::Humanoid;
pub use map::{JointLink, JointMap};
pub use options::RetargetOptions;
