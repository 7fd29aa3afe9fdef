//! The fast skin stage: eight vertices at a time.
//!
//! The results match those of
//! [`Character::skin_primitive`](crate::character::Character::skin_primitive) up to rounding.
//!
//! - `pack`: a primitive's streams, repacked once into blocks of eight vertices. Each vertex of a
//!   block has as many influences as the vertex that uses the most.
//! - `lanes`: the SIMD operations that the kernels need.
//! - `baseline`: these operations in registers that every CPU of the target has.
//! - `avx2`: the same operations in AVX2.
//! - `deformer`: the trait of the transforms.
//! - `matrix`, `dual`: the transform of a block of vertices by matrices and by dual quaternions.
//! - `kernel`: the loop over the blocks.
//! - `scratch`: palettes and morphed streams, built for one call.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod baseline;
mod cpu_skinner;
mod deformer;
mod dual;
mod kernel;
mod lanes;
mod matrix;
mod pack;
mod scratch;
mod vector;

pub use cpu_skinner::Skinner;
