//! The methods of vector units that are one intrinsic each.

/// Implements methods of [`Lanes`](super::lanes::Lanes) for a type that wraps one register.
///
/// A table names the intrinsic of each method. After `load`, `splat` and `store` come methods that
/// take registers and return one.
macro_rules! one_intrinsic_each {
    (
        load: $load:ident,
        splat: $splat:ident,
        store: $store:ident,
        $($method:ident($($other:ident),*): $intrinsic:ident,)*
    ) => {
        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            // SAFETY: the caller guarantees the vector unit, and that `from` is readable and
            // aligned.
            Self(unsafe { $load(from) })
        }

        #[inline(always)]
        unsafe fn splat(value: f32) -> Self {
            // SAFETY: the caller guarantees the vector unit.
            Self(unsafe { $splat(value) })
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            // SAFETY: `self` exists, so the CPU has the vector unit; the caller guarantees `to`.
            unsafe { $store(to, self.0) };
        }

        $(
            #[inline(always)]
            fn $method(self $(, $other: Self)*) -> Self {
                // SAFETY: `self` exists, so the CPU has the vector unit.
                Self(unsafe { $intrinsic(self.0 $(, $other.0)*) })
            }
        )*
    };
}

pub(super) use one_intrinsic_each;
