//! Tests of characters.
//!
//! They cover saving, splitting, influence limits, skeletons made by code, and the built-in
//! character.

mod builtin;
mod ids;
mod influence_limit;
#[cfg(feature = "lod")]
mod level_colors;
#[cfg(feature = "lod")]
mod level_covers;
mod levels;
#[cfg(feature = "lod")]
mod levels_limits;
#[cfg(feature = "lod")]
mod mannequin_file;
mod outfit;
mod save;
mod save_files;
mod save_images;
mod screen_rects;
mod split;
mod transform;
mod unknown_names;
mod vertex_reuse;
mod without_mesh;

use throng_reference as reference;
