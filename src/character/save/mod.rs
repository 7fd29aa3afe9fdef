//! A character with its packed clips as bytes, and back.
//!
//! All that an import proves is checked again, since nobody knows what became of the bytes: what is
//! read is a character that holds its invariants, or an error.

mod check;
mod file;
mod parts;
