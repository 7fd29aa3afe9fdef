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
//! Import the source with [`ImportOptions::curves_only`] and without
//! [`meshes`](crate::import::ImportOptions::meshes). Its skeleton then has every node that the
//! clips move, whatever the file draws. In a library of clips, several armatures may have joints of
//! the same names: [`JointMap::for_clip`] finds the one that a clip is for.
//!
//! [`ImportOptions::curves_only`]: crate::import::ImportOptions::curves_only
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
//! # VRM Animations
//!
//! Humanoids of VRM files rest in a T-pose, and the clips of a VRM Animation (`.vrma`) are relative
//! to it. On a VRM model, they are applied as [its extension says][pose], so that they look as they
//! do elsewhere:
//!
//! - Joints follow the one with the same role, and no other. Names do not matter.
//! - `A` and `F` are the identity. VRM 0.x models, which face -Z, were turned by the import.
//! - The hips are where the source's are in model space, times the ratio of their heights at rest.
//!   If the clip does not move them, they stay where the target has them.
//! - No other joint is moved, and none is scaled.
//! - Joints that the clip leaves at rest get no track.
//!
//! If the target lacks a bone, such as the upper chest, the joints below it turn with it. Both
//! skeletons know what they are: [`Skeleton::vrm`](crate::skeleton::Skeleton::vrm).
//!
//! [pose]: https://github.com/vrm-c/vrm-specification/blob/master/specification/VRMC_vrm_animation-1.0/how_to_transform_human_pose.md
//!
//! # Different builds
//!
//! Skeletons of different builds, such as a quadruped and a biped, match in part.
//! [`Retarget::fit`] has the share of joints that found a partner.

mod apply;
mod between;
mod clip;
mod clip_map;
mod fit;
mod frame;
mod humanoid;
mod map;
mod options;
mod plan;
mod words;

pub use crate::skeleton::role::{Role, VrmKind};
pub use apply::Retarget;
pub use clip::RetargetReport;
pub use fit::RetargetFit;
pub use map::{JointLink, JointMap};
pub use options::RetargetOptions;
pub(crate) use options::is_vrm_pair;
