//! The reader of the "Building the Game" WebGL format: `.wglmodel`, `.wglvert` and `.wglanim`.
//!
//! ```text
//! .wglmodel ──json──▶ Model ┐
//! .wglvert ──vertices───────┴─model──▶ RawCharacter
//! .wglanim ──json──▶ Clip ───clips──▶ RawAnimation
//! ```
//!
//! The files hold the left-handed data of the engine that wrote them. Everything is mirrored in x,
//! which makes it right-handed.

mod clips;
mod json;
mod model;
mod read;
mod vertices;

pub(crate) use read::{read_clips, read_model, vertices_alone};
