//! The vector units that kernels are compiled for, and the choice between them at run time.
//!
//! One kernel source serves all units through the trait `Lanes`:
//!
//! - `plain`: portable code for any CPU.
//! - `sse2`, `avx2`, `avx512` and `neon`: registers of 4, 8, 16 and 4 numbers.
//! - `instructions`: compiles the phases of a kernel as functions of their own.
//! - `intrinsics`: writes the methods that are one intrinsic each, from a table.
//! - `pair`: two registers combined into one of twice the width.
//!
//! In kernels, no closure takes or returns a vector, and no array of vectors is mapped. A function
//! that the compiler does not inline is compiled without the vector unit, and every operation in it
//! becomes a call.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod instructions;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod intrinsics;
mod lanes;
mod level;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod pair;
mod plain;
#[cfg(target_arch = "x86_64")]
mod sse2;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::{Avx2, transpose4};
#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::Avx512;
#[cfg(target_arch = "x86_64")]
pub(crate) use instructions::{Avx2Fma, Avx512All};
pub(crate) use instructions::{Baseline, Instructions, phase};
pub(crate) use lanes::{Eight, Lanes, Row, WIDTH, Wide};
pub use level::SimdLevel;
pub(crate) use level::Unit;
#[cfg(target_arch = "aarch64")]
pub(crate) use neon::Neon;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) use pair::Pair;
pub(crate) use plain::Plain;
#[cfg(target_arch = "x86_64")]
pub(crate) use sse2::Sse2;
