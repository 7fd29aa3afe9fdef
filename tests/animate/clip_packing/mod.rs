//! Packed clips, compared with plain `f64` code.
//!
//! The tests cover the file's curves at many times, the packed words by their documentation, exact
//! loops, steps, and odd files.

mod bound;
mod curves;
mod loops;
mod many;
mod odd;
mod vertices;
mod work;
