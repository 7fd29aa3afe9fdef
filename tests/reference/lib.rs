//! The reference that the tests compare throng with: simple `f64` code, and pictures.
//!
//! The code of posing, skinning, rasterising and shading shares nothing with the crate. It reads
//! glTF files by itself and evaluates their node tree, clips and skins as the specification says.
//! It favours readability over speed, and is a crate of its own because it must be optimised: the
//! tests themselves are not.
//!
//! Posing and skinning:
//!
//! - [`scene`]: nodes, clips, skins and meshes, and their state at a time;
//! - [`gltf`]: a scene from a `.glb` or `.gltf` file;
//! - [`raw`]: a scene from a `RawCharacter`, for characters that are made by code;
//! - [`compare`]: a scene against the crate's `Character`;
//! - [`blend`]: characters and palettes for tests of blending;
//! - [`methods`]: the skinning methods;
//! - [`vertices`]: all vertices of a character in two poses;
//! - [`batch`]: poses of many instances by an `Animator`;
//! - [`poser`]: poses by the crate's own per-pose functions, one after the other.
//!
//! Drawing and picking:
//!
//! - [`raster`]: where vertices are, and the motion that a picture must show;
//! - [`trace`]: pictures with materials, by rays, and [`shade`]: the lighting of a surface;
//! - [`precision`]: how far a device may be from either;
//! - [`rays`]: the nearest hit of all triangles;
//! - [`surface`]: distances between surfaces;
//! - [`golden`]: a picture against the one in the repository, and [`picture`]: PNG files.
//!
//! Things to test on:
//!
//! - [`random`]: random characters, and [`rng`]: small deterministic random numbers;
//! - [`made`]: a glTF file with the unusual features of the format;
//! - [`mannequin`]: the built-in character, modelled by code;
//! - [`ribbon`]: a character with two materials and two clips;
//! - [`raws`]: parts of raw characters;
//! - [`rig`]: a small character for tests of single stages;
//! - [`signed`]: saved characters whose bytes were altered;
//! - [`words`]: messages against patterns;
//! - [`explore`]: a world against its model, by random operations;
//! - [`handles`]: actors and instances that must be alive;
//! - [`assets`]: the model files;
//! - [`sweep`]: how many of many.

#![allow(missing_docs, reason = "many names say all there is to say")]
#![allow(
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    reason = "a test fails where its tools do"
)]

pub mod assets;
pub mod batch;
pub mod blend;
pub mod compare;
pub mod explore;
pub mod gltf;
pub mod golden;
pub mod handles;
pub mod made;
pub mod mannequin;
pub mod maths;
pub mod methods;
pub mod picture;
pub mod poser;
#[cfg(feature = "vulkan")]
pub mod precision;
pub mod random;
#[cfg(feature = "vulkan")]
pub mod raster;
pub mod raw;
pub mod raws;
pub mod rays;
pub mod ribbon;
pub mod rig;
pub mod rng;
pub mod scene;
#[cfg(feature = "vulkan")]
pub mod shade;
pub mod signed;
pub mod surface;
pub mod sweep;
#[cfg(feature = "vulkan")]
pub mod trace;
pub mod vertices;
pub mod words;
