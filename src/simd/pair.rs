//! Two registers combined into one of twice the width.

use super::lanes::{Eight, Four, Lanes, WIDTH};

/// The lower lanes and the upper lanes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair<L>(pub(crate) L, pub(crate) L);

/// Methods that do the same with each register.
macro_rules! by_register {
    ($($method:ident($($other:ident),*),)*) => {$(
        #[inline(always)]
        fn $method(self $(, $other: Self)*) -> Self {
            Self(self.0.$method($($other.0),*), self.1.$method($($other.1),*))
        }
    )*};
}

impl<L: Lanes> Lanes for Pair<L> {
    const WIDTH: usize = 2 * L::WIDTH;

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller guarantees the vector unit, and `from` for both registers.
        unsafe { Self(L::load(from), L::load(from.add(L::WIDTH))) }
    }

    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        // SAFETY: the caller guarantees the vector unit.
        unsafe { Self(L::splat(value), L::splat(value)) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller guarantees `to`, which has memory for both registers.
        unsafe {
            self.0.store(to);
            self.1.store(to.add(L::WIDTH));
        }
    }

    by_register! {
        add(other), sub(other), mul(other), div(other), mul_add(a, b), neg_mul_add(a, b),
        min(other), max(other), sqrt(), flipped_by(by), choose(negative, other),
    }

    #[inline(always)]
    fn below(self, other: Self) -> u32 {
        self.0.below(other.0) | self.1.below(other.1) << L::WIDTH
    }
}

impl<L: Four> Eight for Pair<L> {
    #[inline(always)]
    unsafe fn fields(from: *const u8, bytes: &[[u8; 4]; WIDTH], mask: &[u32; WIDTH]) -> Self {
        let (bytes, mask) = (bytes.as_ptr(), mask.as_ptr());
        // SAFETY: the caller guarantees the vector unit, readable bytes and tables of eight lanes.
        unsafe {
            Self(
                L::fields(from, bytes, mask),
                L::fields(from, bytes.add(4), mask.add(4)),
            )
        }
    }
}
