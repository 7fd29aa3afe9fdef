//! The skin stage, fast: the same results as [`skin`](crate::skin::skin()) up to rounding, eight vertices
//! at a time.
//!
//! - `pack`: a primitive's streams, repacked once: blocks of eight vertices, each with as many
//!   influences as one of its vertices uses;
//! - `lanes`: what the kernels need of a vector unit, in plain code, and `avx2`: in AVX2;
//! - `matrix`, `dual`: how a block of vertices follows its entries, by matrices and by dual
//!   quaternions;
//! - `kernel`: the loop over the blocks;
//! - `scratch`: palettes and morphed streams, made for one call;
//! - `many`: many instances on all cores.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod cpu_skinner;
mod dual;
mod kernel;
mod lanes;
mod many;
mod matrix;
mod pack;
mod scratch;
#[cfg(test)]
mod tests;
mod vector;

pub use cpu_skinner::Skinner;
pub use many::{SkinJob, skin_many};
