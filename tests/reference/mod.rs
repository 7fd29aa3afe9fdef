//! A second opinion on poses, in plain `f64`: it reads glTF files by itself, evaluates their node
//! tree, clips and skins as the specification words them, and shares no code with the crate.
//!
//! - [`scene`]: nodes, clips, skins and meshes, and what they look like at a time;
//! - [`gltf`]: a scene from a `.glb` or `.gltf` file;
//! - [`raw`]: a scene from a `RawCharacter`, for characters that are made by code;
//! - [`compare`]: a scene against the crate's `Character`;
//! - [`blend`]: characters and palettes for tests of blending;
//! - [`methods`]: the skinning methods;
//! - [`poser`]: poses by the crate's own plain functions, one after the other;
//! - [`random`]: random characters, and [`rng`]: small deterministic random numbers;
//! - [`made`]: a glTF file of all oddities;
//! - [`rig`]: a small character for tests of single stages;
//! - [`assets`]: the files to test on.
//!
//! It is written to be read, not to be fast.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "shared by test crates that each use a part of it"
)]

pub mod assets;
pub mod blend;
pub mod compare;
pub mod gltf;
pub mod made;
pub mod maths;
pub mod methods;
pub mod poser;
pub mod random;
pub mod raw;
pub mod rig;
pub mod rng;
pub mod scene;
