//! The vector units that kernels are compiled for, and the choice between them at run time.
//!
//! One kernel source serves all units through the trait `Lanes`:
//!
//! - `sse2`, `neon` and `plain`: four numbers in a register that every CPU of the target has, or in
//!   plain code. One of them is compiled: [`BaselineFour`].
//! - `pair`: two registers combined into one of twice the width.
//! - `avx2` and `avx512`: registers of 8 and 16 numbers.
//! - `instructions`: compiles the phases of a kernel as functions of their own.
//! - `intrinsics`: writes the methods that are one intrinsic each, from a table.
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
mod pair;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod plain;
#[cfg(target_arch = "x86_64")]
mod sse2;

/// Four numbers, on any CPU of the target.
#[cfg(target_arch = "x86_64")]
pub(crate) type BaselineFour = Sse2<false>;
#[cfg(target_arch = "aarch64")]
pub(crate) type BaselineFour = neon::Neon;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) type BaselineFour = plain::Plain;

/// Eight numbers, on any CPU of the target.
pub(crate) type BaselineEight = Pair<BaselineFour>;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::Avx512;
#[cfg(target_arch = "x86_64")]
pub(crate) use instructions::{Avx2Fma, Avx512All};
pub(crate) use instructions::{Baseline, Instructions, phase};
pub(crate) use lanes::{Eight, Four, Lanes, Row, WIDTH, Wide};
pub use level::SimdLevel;
pub(crate) use level::Unit;
pub(crate) use pair::Pair;
#[cfg(target_arch = "x86_64")]
pub(crate) use sse2::Sse2;
