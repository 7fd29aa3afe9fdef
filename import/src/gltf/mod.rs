//! The glTF 2.0 reader: `.glb`, and `.gltf` with data URIs or files beside it.
//!
//! ```text
//! bytes ─container─▶ JSON, BIN ──parse──▶ Document ──scene, mesh, animation, image──▶ RawCharacter
//!                                                      │ ranges │ accessor │ source │ resources
//! ```

mod accessor;
mod animation;
mod attributes;
mod component;
mod container;
#[cfg(feature = "draco")]
mod draco;
mod extensions;
pub(super) mod fault;
pub(super) mod image;
pub(super) mod images;
mod json;
mod json_extensions;
mod json_limits;
mod json_material;
mod json_morph;
#[cfg(feature = "ktx2")]
mod ktx2;
mod lod;
mod material;
mod mesh;
#[cfg(feature = "meshopt")]
mod meshopt;
mod morph;
mod parse;
mod ranges;
mod read;
pub(super) mod resources;
mod scene;
mod skin;
mod source;
mod sparse;
mod spawn_points;
mod specular_glossiness;
mod texture;
mod triangles;
mod vrm;

pub(super) use read::{read_clips, read_raw};
