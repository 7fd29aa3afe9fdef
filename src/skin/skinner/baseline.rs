//! Eight vertices in two registers that every CPU of the target has.

use super::lanes::{Influence, Lanes};
use crate::palette::Mat3x4;
use crate::simd::{BaselineEight, BaselineFour, Four, Lanes as _, Pair, WIDTH, Wide as _};

/// Row `row` of the entry at `offset` bytes from `palette`.
///
/// # Safety
/// An entry must exist at `offset` from `palette`.
#[inline(always)]
unsafe fn row_at(palette: *const Mat3x4, offset: u32, row: usize) -> BaselineFour {
    // SAFETY: the caller guarantees an entry at `offset`. Its rows are four numbers each, aligned
    // to 16 bytes.
    unsafe {
        let entry = palette.byte_add(offset as usize);
        BaselineFour::load(entry.cast::<f32>().add(row * 4))
    }
}

/// Converts the rows of eight vertices to columns.
#[inline(always)]
fn columns(rows: [BaselineFour; WIDTH]) -> [BaselineEight; 4] {
    let [a, b, c, d, e, f, g, h] = rows;
    let [x, y, z, w] = BaselineFour::transposed([a, b, c, d]);
    let [i, j, k, l] = BaselineFour::transposed([e, f, g, h]);
    [Pair(x, i), Pair(y, j), Pair(z, k), Pair(w, l)]
}

impl Lanes for BaselineEight {
    #[inline(always)]
    fn root_inverse_or_1(self, tolerance: f32) -> Self {
        // SAFETY: `self` exists, so the CPU has the vector unit.
        let (one, tolerance) = unsafe { (Self::splat(1.0), Self::splat(tolerance)) };
        let off = self.sub(one).max(one.sub(self));
        // Negative where it is off by more than the tolerance.
        tolerance.sub(off).choose(one.div(self.sqrt()), one)
    }

    #[inline(always)]
    fn where_above(self, by: Self, limit: f32, other: Self) -> Self {
        // SAFETY: `self` exists, so the CPU has the vector unit.
        let limit = unsafe { Self::splat(limit) };
        limit.sub(by).choose(self, other)
    }

    #[inline(always)]
    fn all_between(self, low: f32, high: f32) -> bool {
        // SAFETY: `self` exists, so the CPU has the vector unit.
        let (low, high) = unsafe { (Self::splat(low), Self::splat(high)) };
        low.below(self) & self.below(high) == 0xFF
    }

    #[inline(always)]
    unsafe fn row(palette: *const Mat3x4, influence: &Influence, row: usize) -> [Self; 4] {
        // SAFETY: the caller guarantees the vector unit and an entry at each offset.
        unsafe {
            let mut rows = [BaselineFour::splat(0.0); WIDTH];
            for (to, offset) in rows.iter_mut().zip(influence.offsets) {
                *to = row_at(palette, offset, row);
            }
            columns(rows)
        }
    }

    #[inline(always)]
    unsafe fn blend(palette: *const Mat3x4, influences: &[Influence]) -> [[Self; 4]; 3] {
        // SAFETY: the caller guarantees the vector unit, an influence, and an entry at each offset.
        unsafe {
            let first = influences.get_unchecked(0);
            let mut sums = [[BaselineFour::splat(0.0); WIDTH]; 3];
            for vertex in 0..WIDTH {
                for (row, sum) in sums.iter_mut().enumerate() {
                    let base = row_at(palette, first.offsets[vertex], row);
                    sum[vertex] = base;
                    for influence in influences.get_unchecked(1..) {
                        let weight = BaselineFour::splat(influence.weights.0[vertex]);
                        let entry = row_at(palette, influence.offsets[vertex], row);
                        sum[vertex] = weight.mul_add(entry.sub(base), sum[vertex]);
                    }
                }
            }
            let [x, y, z] = sums;
            [columns(x), columns(y), columns(z)]
        }
    }

    #[inline(always)]
    unsafe fn write3([x, y, z]: [Self; 3], to: *mut f32) {
        // SAFETY: the caller guarantees that `to` is valid for writing 24 numbers.
        unsafe {
            BaselineFour::write_packed3([x.0, y.0, z.0], to);
            BaselineFour::write_packed3([x.1, y.1, z.1], to.add(12));
        }
    }

    #[inline(always)]
    unsafe fn write4([x, y, z, w]: [Self; 4], to: *mut f32) {
        // SAFETY: the caller guarantees that `to` is valid for writing 32 numbers.
        unsafe {
            BaselineFour::write_packed4([x.0, y.0, z.0, w.0], to);
            BaselineFour::write_packed4([x.1, y.1, z.1, w.1], to.add(16));
        }
    }
}
