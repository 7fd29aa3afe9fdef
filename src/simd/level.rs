//! The SIMD instruction set that kernels run on, detected once at run time.

use crate::error::{Error, Result};
use core::fmt;

/// A SIMD instruction set that kernels are compiled for.
///
/// All levels give the same results up to rounding: levels without fused multiply-add round once
/// more for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SimdLevel {
    /// Sixteen instances per register: x86-64 with AVX-512 F, VL, DQ and BW, and everything that
    /// `Avx2` needs.
    Avx512,
    /// Eight instances per register: x86-64 with AVX2 and FMA.
    Avx2,
    /// Four instances per register: any x86-64.
    Sse2,
    /// Four instances per register: any `AArch64`.
    Neon,
    /// The code that any CPU of the target can run: that of `Sse2` on x86-64, that of `Neon` on
    /// `AArch64`, and plain code elsewhere.
    Portable,
}

impl SimdLevel {
    /// All levels, best first.
    const ALL: [Self; 5] = [
        Self::Avx512,
        Self::Avx2,
        Self::Sse2,
        Self::Neon,
        Self::Portable,
    ];

    /// The levels that this CPU can run, best first.
    ///
    /// `Portable` is among them only if it has code of its own.
    pub fn available() -> impl Iterator<Item = Self> {
        let named = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
        let own = move |level: &Self| level.is_available() && !(named && *level == Self::Portable);
        Self::ALL.into_iter().filter(own)
    }

    /// Returns true if this CPU can run the level.
    fn is_available(self) -> bool {
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
}

/// The best level that this CPU can run.
impl Default for SimdLevel {
    fn default() -> Self {
        Self::available().next().unwrap_or(Self::Portable)
    }
}

impl fmt::Display for SimdLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Avx512 => "AVX-512",
            Self::Avx2 => "AVX2 and FMA",
            Self::Sse2 => "SSE2",
            Self::Neon => "NEON",
            Self::Portable => "portable",
        })
    }
}

/// A level that this CPU can run. The existence of a value proves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unit(SimdLevel);

impl Unit {
    /// The best level that this CPU has.
    pub(crate) fn best() -> Self {
        Self(SimdLevel::default())
    }

    /// Creates the proof for this level.
    pub(crate) fn of(level: SimdLevel) -> Result<Self> {
        level
            .is_available()
            .then_some(Self(level))
            .ok_or(Error::invalid("SIMD level", "is not supported by this CPU"))
    }

    pub(crate) const fn level(self) -> SimdLevel {
        self.0
    }
}
