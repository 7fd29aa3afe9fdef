//! The importer: what it reads, on files built here and on published models; what it refuses, with
//! the words it does so in; and what it repairs.
#![cfg(feature = "gltf")]

#[path = "../common/gltf_builder.rs"]
mod builder;

mod animations;
mod bad_animations;
mod bad_caps;
mod bad_images;
mod bad_materials;
mod bad_morphs;
mod bad_nodes;
mod bad_ranges;
mod bad_resources;
mod bad_text;
mod bad_vertices;
mod files;
mod help;
mod materials;
mod meshes;
mod models;
mod morphs;
mod nodes;
mod parts;
#[path = "../reference/poser.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared by tests")]
mod poser;
mod raw;
mod raw_materials;
mod skins;
mod tangents;
mod texture_coordinates;
mod winding;
