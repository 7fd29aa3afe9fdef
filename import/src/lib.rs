//! Reads files into characters of [throng](throng).
//!
//! [`file()`] imports a file of any format, and [`bytes()`] imports the bytes of one. Each format
//! has a reader of its own, under a Cargo feature. It checks every count, index and range before it
//! reads, and fills a [`RawCharacter`](throng::import::RawCharacter) with the contents of the file.
//! [`RawCharacter::build`](throng::import::RawCharacter::build) checks it, repairs harmless faults,
//! lists the repairs and makes a [`Character`](throng::character::Character).
//!
//! [`add_clips`] adds clips from other files, of any format, to a character. It matches joints by
//! name.
//!
//! ```no_run
//! let knight = throng_import::file("knight.glb", &Default::default())?;
//! println!("{} joints", knight.skeleton().len());
//! # Ok::<(), throng::Error>(())
//! ```
//!
//! Contents that are left out, as listed below, are each reported as a
//! [`Repair`](throng::import::Repair).
//!
//! # From a file to a character
//!
//! `file.rs` calls these steps in this order:
//!
//! 1. `folder.rs`: the bytes of the file, and of others in its folder.
//! 2. `format.rs`: the format.
//! 3. `read.rs`: the raw data, by the reader in `gltf`, `vrm`, `fbx` or `framed`.
//! 4. `space.rs`: metres and +Y up.
//! 5. `input.rs`: the animation data beside the file. `throng` checks and repairs the raw data,
//!    and packs the clips.
//!
//! If clips are added to a character, the last step is
//! [`RawCharacter::add_clips`](throng::import::RawCharacter::add_clips).
//!
#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)
)]

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
mod input;
#[cfg(any(feature = "gltf", feature = "wgl"))]
mod json;
mod read;
mod space;
#[cfg(any(feature = "ezm", feature = "wgl"))]
mod textures;
#[cfg(feature = "gltf")]
mod vrm;

pub use file::{add_clips, add_clips_bytes, bytes, file, has_hierarchy};
pub use format::has_known_extension;
