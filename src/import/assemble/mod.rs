//! Builds a [`Character`] from raw data and checks all of its invariants, once.

mod adopt;
mod character;
mod clips;
mod extras;
mod fault;
mod influences;
mod leave_out;
mod loss;
mod materials;
mod morphs;
mod narrow;
mod normals;
mod palette;
mod primitive;
mod skeleton;
mod tangents;
mod targets;
mod weld;
mod winding;

pub(super) use adopt::{Adopted, adopt};
pub(super) use character::check_clip_joints;
#[cfg(feature = "gltf")]
pub(super) use clips::wrong_time;
#[cfg(any(feature = "ezm", feature = "wgl"))]
pub(super) use skeleton::affine_part;
