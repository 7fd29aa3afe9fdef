//! Bytes to characters.
//!
//! A format's reader ([`gltf()`], under the feature `gltf`) checks every count, index and range
//! before it reads, and fills a [`RawCharacter`]: what the file says, in the crate's words.
//! [`RawCharacter::build`] proves it into a [`Character`](crate::character::Character), repairs harmless faults and lists the
//! repairs. Code that makes characters itself starts from a [`RawCharacter`] as well: [`rigid()`]
//! makes one of a static mesh, [`RawCharacter::from_skeleton`] of a skeleton alone.
//!
//! Clips that lie in other files join a character by the names of their joints, with
//! [`add_clips()`].

mod add_clips;
mod build;
#[cfg(feature = "gltf")]
mod gltf;
mod raw;
mod rigid;
mod weight_match;
pub use add_clips::{
    AddedClip, AddedClips, AmbiguousName, ClipsFor, ClipsReport, RestDifference, UnmatchedJoint,
    UnmatchedWeight,
};
#[cfg(feature = "gltf")]
pub use gltf::{add_clips, add_clips_file, add_clips_with, clips_for, gltf, gltf_file, gltf_with};
pub use raw::{
    RawAnimation, RawChannel, RawCharacter, RawKeys, RawMorph, RawNode, RawPrimitive, RawSkin,
    RawTransform,
};
pub use rigid::rigid;
mod options;
pub use options::ImportOptions;
pub use options::Imported;
pub use options::InfluenceLoss;
pub use options::Narrowing;
pub use options::Repair;
pub use options::RepairKind;
