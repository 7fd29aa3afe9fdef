//! Import of files to characters.
//!
//! [`file()`] imports a file of any format, and [`bytes()`] imports the bytes of one. Each format
//! has a reader of its own, under a Cargo feature. It checks every count, index and range before it
//! reads, and fills a [`RawCharacter`] with the contents of the file. [`RawCharacter::build`]
//! checks it, repairs harmless faults, lists the repairs and makes a
//! [`Character`](crate::character::Character). Code that generates characters starts from a
//! [`RawCharacter`] too: [`RawPrimitive::build_rigid`] makes a character from a static mesh, and
//! [`RawCharacter::from_skeleton`] one from a skeleton alone.
//!
//! [`Character::add_clips_file`](crate::character::Character::add_clips_file) adds clips from other
//! files, of any format, to a character. It matches joints by name.
//!
//! Contents that are left out, as listed below, are each reported as a [`Repair`].
//!
//! # From a file to a character
//!
//! `file.rs` calls these steps in this order:
//!
//! 1. `folder.rs`: the bytes of the file, and of others in its folder.
//! 2. `format.rs`: the format.
//! 3. `read.rs`: the raw data (`raw.rs`), by the reader in `gltf`, `vrm`, `fbx` or `framed`.
//! 4. `space.rs`: metres and +Y up.
//! 5. `source.rs`: the animation data beside the file.
//! 6. `assemble`: checks and repairs. Then `CharacterDraft` in `src/character` packs the clips.
//!
//! If clips are added to a character, `add_clips.rs` replaces the last two steps.
//!
#![doc = include_str!("../../docs/formats.md")]

mod add_clips;
mod assemble;
#[cfg(any(feature = "gltf", feature = "ezm", feature = "wgl"))]
mod budget;
mod fault;
#[cfg(feature = "fbx")]
mod fbx;
mod file;
mod folder;
mod format;
#[cfg(any(feature = "ezm", feature = "wgl"))]
mod framed;
#[cfg(feature = "gltf")]
mod gltf;
mod imported;
#[cfg(any(feature = "gltf", feature = "wgl"))]
mod json;
mod options;
mod raw;
mod read;
mod repair;
mod resource_reader;
mod shapes;
mod source;
mod space;
#[cfg(any(feature = "ezm", feature = "wgl"))]
mod textures;
#[cfg(feature = "gltf")]
mod vrm;
mod weight_match;

pub use file::{bytes, file, has_hierarchy};
pub use format::has_known_extension;
pub use imported::{GeometryReport, Imported, InfluenceLoss, SpawnPoint};
pub use options::{ImportOptions, UpAxis};
pub use raw::{
    RawAnimation, RawChannel, RawCharacter, RawKeys, RawLevel, RawLevelGroup, RawMorph, RawNode,
    RawPrimitive, RawRole, RawSkin, RawWeight,
};
pub use repair::{Repair, RepairKind};
pub use resource_reader::ResourceReader;
