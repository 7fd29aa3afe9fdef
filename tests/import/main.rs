//! Tests of the importer.
//!
//! - It reads files built here and published models.
//! - It rejects invalid files, with the expected messages.
//! - It repairs some defects.
#![cfg_attr(
    not(all(
        feature = "draco",
        feature = "ezm",
        feature = "meshopt",
        feature = "wgl"
    )),
    allow(dead_code, unused_imports, reason = "tests of readers use them")
)]

#[cfg(feature = "fbx")]
#[path = "../fbx/ascii.rs"]
#[allow(dead_code, reason = "only its arm is used here")]
mod ascii;
mod builder;

mod add_clips;
mod animation_pointers;
mod animations;
mod bad_animations;
mod bad_caps;
#[cfg(feature = "ezm")]
mod bad_ezm;
mod bad_images;
mod bad_materials;
mod bad_morphs;
mod bad_nodes;
mod bad_ranges;
mod bad_resources;
mod bad_text;
mod bad_vertices;
mod clip_forms;
mod clip_libraries;
mod draco;
mod export;
mod extensions;
mod extent;
#[cfg(feature = "ezm")]
mod ezm;
mod files;
#[cfg(all(feature = "ezm", feature = "wgl"))]
mod formats;
mod fuzz;
mod help;
mod image_kinds;
#[cfg(feature = "ktx2")]
mod ktx2;
mod level_files;
mod levels;
mod materials;
mod meshes;
mod meshopt;
mod messages;
mod models;
mod morphs;
mod nodes;
mod notes;
mod order;
mod parts;
mod raw;
mod raw_materials;
mod repairs;
mod retarget;
#[cfg(any(feature = "ezm", feature = "wgl"))]
mod samples;
mod shared_binds;
mod sidecar;
mod skins;
#[cfg(all(feature = "ezm", feature = "wgl"))]
mod space;
mod spawn_points;
mod specular_glossiness;
mod tangents;
mod texture_coordinates;
#[cfg(all(feature = "ezm", feature = "wgl"))]
mod textures;
mod unseen;
mod vrm;
#[cfg(feature = "wgl")]
mod wgl;
mod winding;

use throng_reference as reference;
