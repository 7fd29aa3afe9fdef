//! The glTF 2.0 reader: `.glb`, and `.gltf` with data URIs or files beside it.
//!
//! ```text
//! bytes ──container──▶ JSON, BIN ──parse──▶ Document ──scene, mesh, animation, image──▶ RawCharacter
//!                                                        │ ranges │ accessor │ source │ resources
//! ```

mod accessor;
mod add_clips;
mod animation;
mod attributes;
mod container;
mod events;
mod image;
mod json;
mod json_material;
mod json_morph;
mod material;
mod mesh;
mod morph;
mod parse;
mod ranges;
mod resources;
mod scene;
mod sidecar;
mod skin;
mod source;
mod sparse;
mod texture;
mod triangles;
pub use add_clips::{add_clips, add_clips_file, add_clips_with, clips_for};
mod read;
pub use read::gltf;
pub use read::gltf_file;
pub use read::gltf_with;
