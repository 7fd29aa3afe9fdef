//! A second implementation of posing, in simple `f64` code, that shares no code with the crate.
//!
//! It reads glTF files by itself and evaluates their node tree, clips and skins as the
//! specification says.
//!
//! - [`scene`]: nodes, clips, skins and meshes, and their state at a time;
//! - [`gltf`]: a scene from a `.glb` or `.gltf` file;
//! - [`raw`]: a scene from a `RawCharacter`, for characters that are made by code;
//! - [`compare`]: a scene against the crate's `Character`;
//! - [`blend`]: characters and palettes for tests of blending;
//! - [`methods`]: the skinning methods;
//! - [`poser`]: poses by the crate's own per-pose functions, one after the other;
//! - [`random`]: random characters, and [`rng`]: small deterministic random numbers;
//! - [`made`]: a glTF file with the unusual features of the format;
//! - [`rig`]: a small character for tests of single stages;
//! - [`assets`]: the files to test on.
//!
//! The code favours readability over speed.

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
