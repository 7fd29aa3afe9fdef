//! Import of files to characters.
//!
//! [`file()`] imports a file of any format. Each format has a reader of its own, under a Cargo
//! feature: [`gltf()`], `fbx()`, [`ezm()`], [`wgl()`]. It checks every count, index and range
//! before it reads, and fills a [`RawCharacter`] with the contents of the file.
//! [`RawCharacter::build`] checks it, repairs harmless faults, lists the repairs and makes a
//! [`Character`](crate::character::Character). Code that generates characters starts from a
//! [`RawCharacter`] too: [`RawPrimitive::build_rigid`] makes a character of a static mesh, and
//! [`RawCharacter::from_skeleton`] one of a skeleton alone.
//!
//! [`add_clips()`] adds clips from other files, of any format, to a character. It matches joints by
//! name.

mod add_clips;
#[cfg(any(feature = "ezm", feature = "wgl"))]
mod budget;
mod build;
mod clip_files;
#[cfg(any(feature = "gltf", feature = "ezm", feature = "wgl"))]
mod complete;
#[cfg(feature = "ezm")]
mod ezm;
mod fault;
#[cfg(feature = "fbx")]
mod fbx;
mod file;
mod folder;
mod format;
#[cfg(any(feature = "ezm", feature = "wgl"))]
mod frames;
#[cfg(feature = "gltf")]
mod gltf;
mod imported;
#[cfg(any(feature = "ezm", feature = "wgl"))]
mod inverse_rest;
#[cfg(any(feature = "gltf", feature = "wgl"))]
mod json_list;
mod options;
mod raw;
mod repair;
mod resource_reader;
mod rigid;
mod shapes;
#[cfg(any(feature = "gltf", feature = "ezm", feature = "wgl"))]
mod sidecar;
mod spawn_point;
#[cfg(any(feature = "ezm", feature = "wgl"))]
mod srgb;
#[cfg(feature = "gltf")]
mod vrm;
mod weight_match;
#[cfg(feature = "wgl")]
mod wgl;

pub use clip_files::{add_clips, add_clips_file, has_hierarchy};
#[cfg(feature = "ezm")]
pub use ezm::{ezm, ezm_file};
#[cfg(feature = "fbx")]
pub use fbx::{fbx, fbx_file};
pub use file::file;
#[cfg(feature = "gltf")]
pub use gltf::{gltf, gltf_file};
pub use imported::{Imported, InfluenceLoss};
pub use options::ImportOptions;
pub use raw::{
    RawAnimation, RawChannel, RawCharacter, RawKeys, RawMorph, RawNode, RawPrimitive, RawSkin,
    RawTransform,
};
pub use repair::{Repair, RepairKind};
pub use resource_reader::ResourceReader;
pub use spawn_point::SpawnPoint;
#[cfg(feature = "wgl")]
pub use wgl::{wgl, wgl_file};
