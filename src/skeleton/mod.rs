//! Joints, their hierarchy and their transforms.
//!
//! [`Skeleton`] stores joints in breadth-first order, parents before children. A local pose is one
//! [`Transform`] per joint, relative to its parent. [`Skeleton::model_pose`] composes it into one
//! matrix per joint, in character space. [`Mask`] gives each joint a weight, and [`Socket`] is a
//! position on a joint.

mod armatures;
mod build;
pub(crate) mod joints;
mod mask;
mod name_match;
pub(crate) mod role;
mod shift;
mod socket;

pub(crate) use armatures::Armatures;
pub use joints::{Joint, Skeleton, Transform};
pub(crate) use joints::{NO_PARENT, rest_model_pose};
pub use mask::Mask;
pub(crate) use name_match::{NameMatch, match_names};
pub(crate) use shift::Shift;
pub use socket::Socket;
