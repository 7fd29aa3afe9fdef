//! Text of descriptions: line numbers for errors, and checks of names and numbers.

mod check;
#[cfg(feature = "toml")]
mod lines;

pub(crate) use check::{Fault, bad_name, check_cap, check_names, check_value, find, unknown};
#[cfg(feature = "toml")]
pub(crate) use lines::{TextLines, elements, text_of};
