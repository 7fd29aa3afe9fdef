//! Tests of characters.
//!
//! They cover saving, splitting, influence limits, skeletons made by code, and the built-in
//! character.

#[path = "../reference/mod.rs"]
mod reference;
#[path = "../support/signed.rs"]
mod signed;

mod builtin;
mod influence_limit;
mod save;
mod save_files;
mod save_images;
mod split;
mod transform;
mod unknown_names;
mod without_mesh;
