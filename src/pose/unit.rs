//! Which vector unit the kernels of the pose level run on, told once at run time.

/// Code for a vector unit that this CPU has: a value of it proves that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Plain code, for any CPU.
    Plain,
}

impl Unit {
    /// The best that this CPU has.
    pub(super) fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return Self::Avx2;
        }
        Self::Plain
    }

    /// What `code()` of those that run on it says.
    pub(super) const fn name(self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => "AVX2 and FMA",
            Self::Plain => "portable",
        }
    }
}
