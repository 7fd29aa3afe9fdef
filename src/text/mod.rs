//! Text of descriptions and files: trees of plain values, and checks of names and numbers.

mod check;
#[cfg(any(feature = "gltf", feature = "wgl"))]
mod json;
mod pointer;
#[cfg_attr(
    not(all(feature = "gltf", feature = "serde", feature = "toml")),
    allow(dead_code, reason = "each format uses some of it")
)]
mod read;
#[cfg(feature = "serde")]
mod serde;
#[cfg(feature = "toml")]
mod toml;
#[cfg_attr(
    not(all(feature = "gltf", feature = "serde", feature = "toml")),
    allow(dead_code, reason = "each format uses some of it")
)]
mod tree;

pub(crate) use check::{Fault, bad_name, check_cap, check_names, check_value, find, unknown};
#[cfg(any(feature = "gltf", feature = "wgl"))]
pub(crate) use json::{JsonFault, json};
pub(crate) use pointer::is_lfs_pointer;
#[cfg(any(feature = "gltf", feature = "wgl"))]
pub(crate) use read::file_structs;
pub(crate) use read::{
    Read, Write, field_name, read_field, text_enums, text_serde, text_structs, write_field,
};
#[cfg(feature = "toml")]
pub(crate) use toml::{DescText, MAX_TOML_BYTES, to_toml};
#[cfg(any(feature = "gltf", feature = "toml", feature = "wgl"))]
pub(crate) use tree::Step;
#[cfg(any(feature = "gltf", feature = "wgl"))]
pub(crate) use tree::path_text;
pub(crate) use tree::{Kind, ReadFault, Tree, Value};
