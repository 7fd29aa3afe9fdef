//! The sets of instructions that parts of a kernel are compiled for.

/// A set of instructions.
///
/// Everything in a kernel is inlined, so that it is compiled for the right instructions. Without
/// optimisation, each value in a function has its own place on the stack: a kernel in one function
/// would need 3 MB, and threads often have 2 MB. So the phases of a kernel are functions of their
/// own. Builds with debug assertions keep them apart, which also makes them compile faster. In
/// other builds the optimiser may inline them again.
pub(crate) trait Instructions {
    /// Calls a closure in a function of its own, compiled for these instructions.
    ///
    /// The closure is `#[inline(always)]`, like everything that it calls with a vector: use the
    /// macro `phase!`.
    ///
    /// # Safety
    /// The CPU has these instructions.
    unsafe fn call<R>(phase: impl FnOnce() -> R) -> R;
}

/// The instructions that every CPU of the target has.
pub(crate) enum Baseline {}

impl Instructions for Baseline {
    #[cfg_attr(debug_assertions, inline(never))]
    #[cfg_attr(not(debug_assertions), inline)]
    unsafe fn call<R>(phase: impl FnOnce() -> R) -> R {
        phase()
    }
}

/// AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
pub(crate) enum Avx2Fma {}

#[cfg(target_arch = "x86_64")]
impl Instructions for Avx2Fma {
    #[inline(always)]
    unsafe fn call<R>(phase: impl FnOnce() -> R) -> R {
        #[cfg_attr(debug_assertions, inline(never))]
        #[cfg_attr(not(debug_assertions), inline)]
        #[target_feature(enable = "avx2,fma")]
        fn compiled<R>(phase: impl FnOnce() -> R) -> R {
            phase()
        }
        // SAFETY: the caller guarantees AVX2 and FMA.
        unsafe { compiled(phase) }
    }
}

/// All of AVX-512 that [`SimdLevel::Avx512`](super::SimdLevel::Avx512) lists.
#[cfg(target_arch = "x86_64")]
pub(crate) enum Avx512All {}

#[cfg(target_arch = "x86_64")]
impl Instructions for Avx512All {
    #[inline(always)]
    unsafe fn call<R>(phase: impl FnOnce() -> R) -> R {
        #[cfg_attr(debug_assertions, inline(never))]
        #[cfg_attr(not(debug_assertions), inline)]
        #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
        fn compiled<R>(phase: impl FnOnce() -> R) -> R {
            phase()
        }
        // SAFETY: the caller guarantees AVX-512.
        unsafe { compiled(phase) }
    }
}

/// Evaluates an expression in a function of its own, compiled for a set of [`Instructions`].
///
/// As unsafe as [`Instructions::call`].
macro_rules! phase {
    ($instructions:ty, $phase:expr) => {
        <$instructions as $crate::simd::Instructions>::call(
            #[inline(always)]
            || $phase,
        )
    };
}
pub(crate) use phase;
