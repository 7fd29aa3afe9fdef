//! Text of descriptions: line numbers for errors, and checks of names and numbers.

mod check;
#[cfg(feature = "toml")]
mod lines;
#[cfg(any(feature = "gltf", feature = "wgl", feature = "toml"))]
mod parser_words;
mod pointer;

pub(crate) use check::{Fault, bad_name, check_cap, check_names, check_value, find, unknown};
#[cfg(feature = "toml")]
pub(crate) use lines::{TextLines, elements, text_of};
#[cfg(any(feature = "gltf", feature = "wgl", feature = "toml"))]
pub(crate) use parser_words::{Format, plain};
pub(crate) use pointer::{LFS_POINTER, is_lfs_pointer};
