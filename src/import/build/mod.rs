//! Builds a [`Character`] from raw data and checks all of its invariants, once.

mod adopt;
mod clips;
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
#[cfg(feature = "gltf")]
pub(super) use clips::wrong_time;
mod character;
pub(super) use character::check_clip_joints;
