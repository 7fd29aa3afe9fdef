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
//! - `deformer`: the transform of a block of vertices by matrices and by dual quaternions.
//! - `kernel`: the loop over the blocks.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod baseline;
mod cpu_skinner;
mod deformer;
mod kernel;
mod lanes;
mod pack;

pub use cpu_skinner::Skinner;
