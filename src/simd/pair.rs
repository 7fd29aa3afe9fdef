//! Two registers combined into one of twice the width.

use super::lanes::{Eight, Lanes, WIDTH};

/// The lower lanes and the upper lanes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair<L>(pub(crate) L, pub(crate) L);

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

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(self.0.add(other.0), self.1.add(other.1))
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(self.0.sub(other.0), self.1.sub(other.1))
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(self.0.mul(other.0), self.1.mul(other.1))
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        Self(self.0.div(other.0), self.1.div(other.1))
    }

    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        Self(self.0.mul_add(a.0, b.0), self.1.mul_add(a.1, b.1))
    }

    #[inline(always)]
    fn neg_mul_add(self, a: Self, b: Self) -> Self {
        Self(self.0.neg_mul_add(a.0, b.0), self.1.neg_mul_add(a.1, b.1))
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(self.0.min(other.0), self.1.min(other.1))
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(self.0.max(other.0), self.1.max(other.1))
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.sqrt(), self.1.sqrt())
    }

    #[inline(always)]
    fn flipped_by(self, by: Self) -> Self {
        Self(self.0.flipped_by(by.0), self.1.flipped_by(by.1))
    }

    #[inline(always)]
    fn choose(self, negative: Self, other: Self) -> Self {
        Self(
            self.0.choose(negative.0, other.0),
            self.1.choose(negative.1, other.1),
        )
    }

    #[inline(always)]
    fn below(self, other: Self) -> u32 {
        self.0.below(other.0) | self.1.below(other.1) << L::WIDTH
    }
}

#[cfg(target_arch = "x86_64")]
type Four = super::sse2::Sse2<false>;
#[cfg(target_arch = "aarch64")]
type Four = super::neon::Neon;

impl Eight for Pair<Four> {
    #[inline(always)]
    unsafe fn fields(from: *const u8, bytes: &[[u8; 4]; WIDTH], mask: &[u32; WIDTH]) -> Self {
        let (bytes, mask) = (bytes.as_ptr(), mask.as_ptr());
        // SAFETY: the caller guarantees the vector unit, readable bytes and tables of eight lanes.
        unsafe {
            Self(
                Four::fields(from, bytes, mask),
                Four::fields(from, bytes.add(4), mask.add(4)),
            )
        }
    }
}
