//! The SIMD instruction set that kernels run on, detected once at run time.

use crate::error::{ArgumentFault, Error, Result};
use core::fmt;

/// SimdLevel for a vector unit, as [`BatchPoser`](crate::animate::BatchPoser) has it for each.
///
/// All of them give the same results up to rounding: those without fused products and sums round
/// once more for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SimdLevel {
    /// Sixteen instances in the lanes: x86-64 with the parts F, VL, DQ and BW of AVX-512, and all
    /// of AVX2.
    Avx512,
    /// Eight instances in the lanes: x86-64 with AVX2 and FMA.
    Avx2,
    /// Four instances in the lanes: any x86-64.
    Sse2,
    /// Four instances in the lanes: any `AArch64`.
    Neon,
    /// Plain code for any CPU; the compiler makes what it can of it.
    Portable,
}

impl SimdLevel {
    /// All, best first.
    const ALL: [Self; 5] = [
        Self::Avx512,
        Self::Avx2,
        Self::Sse2,
        Self::Neon,
        Self::Portable,
    ];

    /// The levels that this CPU can run, best first.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|level| level.is_available())
    }

    /// The best level that this CPU can run.
    #[must_use]
    pub fn best() -> Self {
        Self::available().next().unwrap_or(Self::Portable)
    }

    /// Whether this CPU can run it.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                Self::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512bw")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            Self::Sse2 => cfg!(target_arch = "x86_64"),
            Self::Neon => cfg!(target_arch = "aarch64"),
            Self::Portable => true,
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx512 | Self::Avx2 => false,
        }
    }

    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Avx512 => "AVX-512",
            Self::Avx2 => "AVX2 and FMA",
            Self::Sse2 => "SSE2",
            Self::Neon => "NEON",
            Self::Portable => "portable",
        }
    }
}

impl fmt::Display for SimdLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A level that this CPU can run: a value proves that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unit(SimdLevel);

impl Unit {
    /// The best that this CPU has.
    pub(crate) fn best() -> Self {
        Self(SimdLevel::best())
    }

    /// For this level.
    ///
    /// # Errors
    /// [`Error::Argument`] if the CPU cannot run it.
    pub(crate) fn of(level: SimdLevel) -> Result<Self> {
        level.is_available().then_some(Self(level)).ok_or({
            Error::Argument {
                what: "SIMD level",
                why: ArgumentFault::Invalid("is not supported by this CPU"),
            }
        })
    }

    pub(crate) const fn level(self) -> SimdLevel {
        self.0
    }
}
