//! VRM 0.x and 1.0: humanoid bones, expressions and spring bones of a glTF file.
//!
//! ```text
//! JSON ──json──▶ Vrm0, Vrm1, SpringBone1 ──humanoid, expressions, springs──▶ RawCharacter
//! ```
//!
//! Version 0.x is converted to what 1.0 says: names, weights, axes, and the direction that the
//! character faces.

mod expressions;
mod humanoid;
mod json;
mod read;
mod scene;
mod springs;

pub(super) use json::{SpringBone1, Vrm0, Vrm1, VrmAnimation, extension};
pub(super) use read::{face_forward, read_animation, read_vrm0, read_vrm1};
pub(super) use scene::VrmScene;
