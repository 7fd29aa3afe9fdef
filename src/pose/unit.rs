//! Which vector unit the kernels of the pose level run on, told once at run time.

use core::fmt;

/// Code for a vector unit, as [`BatchPoser`](super::BatchPoser) has it for each.
///
/// All of them give the same results up to rounding: those without fused products and sums round once more for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// Sixteen instances in the lanes: x86-64 with the parts F, VL, DQ and BW of AVX-512, and all of AVX2.
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

impl Code {
    /// All, best first.
    const ALL: [Self; 5] = [
        Self::Avx512,
        Self::Avx2,
        Self::Sse2,
        Self::Neon,
        Self::Portable,
    ];

    /// Those that this CPU can run, best first.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|code| code.is_available())
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

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Code that this CPU can run: a value proves that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit(Code);

impl Unit {
    pub(super) const PLAIN: Self = Self(Code::Portable);

    /// The best that this CPU has.
    pub(super) fn best() -> Self {
        Code::available().next().map_or(Self::PLAIN, Self)
    }

    /// For this code, if the CPU can run it.
    pub(super) fn of(code: Code) -> Option<Self> {
        code.is_available().then_some(Self(code))
    }

    pub(super) const fn code(self) -> Code {
        self.0
    }
}
