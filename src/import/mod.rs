//! Import of files to characters.
//!
//! A format's reader ([`gltf()`] under the feature `gltf`, `fbx` under the feature `fbx`) checks
//! every count, index and range before it reads, and fills a [`RawCharacter`] with the contents of
//! the file.
//! [`RawCharacter::build`] checks it, repairs harmless faults, lists the repairs and makes a
//! [`Character`](crate::character::Character). Code that generates characters starts from a
//! [`RawCharacter`] too: [`RawPrimitive::build_rigid`] makes a character of a static mesh, and
//! [`RawCharacter::from_skeleton`] one of a skeleton alone.
//!
//! [`add_clips()`] adds clips from other files to a character. It matches joints by name.

mod add_clips;
mod build;
mod fault;
#[cfg(feature = "fbx")]
mod fbx;
#[cfg(feature = "gltf")]
mod gltf;
mod imported;
mod options;
mod raw;
mod repair;
mod resource_reader;
mod rigid;
mod shapes;
mod weight_match;

#[cfg(feature = "fbx")]
pub use fbx::{add_fbx_clips, add_fbx_clips_file, fbx, fbx_file};
#[cfg(feature = "gltf")]
pub use gltf::{add_clips, add_clips_file, gltf, gltf_file};
pub use imported::{Imported, InfluenceLoss};
pub use options::ImportOptions;
pub use raw::{
    RawAnimation, RawChannel, RawCharacter, RawKeys, RawMorph, RawNode, RawPrimitive, RawSkin,
    RawTransform,
};
pub use repair::{Repair, RepairKind};
pub use resource_reader::ResourceReader;
