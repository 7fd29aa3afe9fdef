//! Text of descriptions and files: trees of plain values, and checks of names and numbers.

mod check;
#[cfg_attr(
    not(all(feature = "serde", feature = "toml")),
    allow(dead_code, reason = "each format uses some of it")
)]
mod read;
#[cfg(feature = "serde")]
mod serde;
#[cfg(feature = "toml")]
mod toml;
#[cfg_attr(
    not(all(feature = "serde", feature = "toml")),
    allow(dead_code, reason = "each format uses some of it")
)]
mod tree;

pub(crate) use check::{
    At, Checked, Fault, bad_name, check_cap, check_names, check_value, find, unknown,
};
pub(crate) use read::{
    Read, Write, field_name, read_field, text_enums, text_serde, text_structs, write_field,
};
#[cfg(feature = "toml")]
pub(crate) use toml::{DescText, MAX_TOML_BYTES, to_toml};
#[cfg(feature = "toml")]
pub(crate) use tree::path_text;
pub(crate) use tree::{Kind, ReadFault, Step, Tree, Value};
