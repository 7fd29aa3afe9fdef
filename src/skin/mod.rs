//! The skin stage on the CPU: morph targets, skinning, bounds and picking.
//!
//! [`Character::skin_primitive`](crate::character::Character::skin_primitive) deforms the vertices
//! of one primitive in plain code. [`Skinner`] does the same for eight vertices at a time. Both
//! produce positions, normals and tangents in character space.

mod blend;
mod bounds;
mod flipped;
mod pick;
mod pose_steps;
mod ray;
mod reach;
mod skinned_layout;
mod skinner;
mod vertices;

#[cfg(feature = "vulkan")]
pub(crate) use pick::DRay;
pub use pick::{CullMode, Hit, Posed, Ray};
pub use pose_steps::PoseSteps;
pub(crate) use reach::{Nodes, Poses, Posing, Reach, ReachRig};
pub use skinned_layout::{SkinnedLayout, SkinnedStreams};
pub use skinner::Skinner;
pub use vertices::PosedVertices;
pub(crate) use vertices::skin_linear;
