//! A character with its packed clips as bytes, and back.
//!
//! Everything that an import checks is checked again, because the bytes may have been altered. The
//! result is a character with all its invariants, or an error.

mod check;
mod container;
mod file;
mod parts;

pub use file::LoadOptions;
