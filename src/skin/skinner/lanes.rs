//! The trait [`Lanes`]: SIMD operations on eight vertices side by side, for the kernels.
//!
//! This file also has its portable implementation.

use crate::palette::Mat3x4;
pub(super) use crate::simd::{Eight, Plain, Row as Block, WIDTH};
use glam::Vec4;

/// One influence of each vertex of a block. It fills one cache line.
#[repr(C, align(64))]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Influence {
    /// Byte offsets of the entries from the start of the character's palette.
    pub(super) offsets: [u32; WIDTH],
    /// Weights, 0 to 1.
    pub(super) weights: Block,
}

/// The SIMD operations that deformation needs, on eight lanes.
pub(super) trait Lanes: Eight {
    /// Loads a block.
    ///
    /// # Safety
    /// The CPU must have the vector unit.
    #[inline(always)]
    unsafe fn of(block: &Block) -> Self {
        // SAFETY: the caller guarantees the vector unit. A block is as long as the lanes and has
        // their alignment.
        unsafe { Self::load(block.0.as_ptr()) }
    }

    #[inline(always)]
    fn block(self) -> Block {
        let mut to = Block::default();
        // SAFETY: `self` exists, so the CPU has the vector unit. A block is as long as the lanes
        // and has their alignment.
        unsafe { self.store(to.0.as_mut_ptr()) };
        to
    }

    /// `1 / √self`, or 1 if `self` is 1 to within `tolerance`.
    fn root_inverse_or_1(self, tolerance: f32) -> Self;
    /// Selects `self` in lanes where `by` is greater than `limit`, else `other`.
    fn where_above(self, by: Self, limit: f32, other: Self) -> Self;
    /// True if all lanes are strictly between `low` and `high`. False for NaN.
    fn all_between(self, low: f32, high: f32) -> bool;

    /// Row `row` of each vertex's entry, as four columns.
    ///
    /// # Safety
    /// The CPU must have the vector unit. An entry must exist at every offset from `palette`.
    unsafe fn row(palette: *const Mat3x4, influence: &Influence, row: usize) -> [Self; 4];

    /// The three rows of `M₀ + Σ wᵢ (Mᵢ - M₀)`, each as four columns.
    ///
    /// If all entries are equal, the result is exactly that entry.
    ///
    /// # Safety
    /// - The CPU must have the vector unit.
    /// - There must be at least one influence.
    /// - An entry must exist at every offset from `palette`.
    unsafe fn blend(palette: *const Mat3x4, influences: &[Influence]) -> [[Self; 4]; 3];

    /// Writes x, y, z of each vertex in ascending order: 24 numbers.
    ///
    /// # Safety
    /// `to` must be valid for writing 24 numbers.
    unsafe fn write3(vectors: [Self; 3], to: *mut f32);

    /// Writes x, y, z, w of each vertex in ascending order: 32 numbers.
    ///
    /// # Safety
    /// `to` must be valid for writing 32 numbers.
    unsafe fn write4(vectors: [Self; 4], to: *mut f32);
}

/// The rows of the entry at `offset` bytes from `palette`.
///
/// # Safety
/// An entry must exist at `offset` from `palette`.
#[inline(always)]
unsafe fn rows(palette: *const Mat3x4, offset: u32) -> [Vec4; 3] {
    // SAFETY: the caller guarantees an entry at `offset`. Offsets are multiples of an entry's size,
    // so the pointer is aligned.
    let [a, b, c] = unsafe { (*palette.byte_add(offset as usize)).rows };
    [a.into(), b.into(), c.into()]
}

impl Lanes for Plain<WIDTH> {
    #[inline(always)]
    fn root_inverse_or_1(mut self, tolerance: f32) -> Self {
        for a in &mut self.0 {
            let near = (*a - 1.0).abs() <= tolerance;
            *a = if near { 1.0 } else { 1.0 / a.sqrt() };
        }
        self
    }

    #[inline(always)]
    fn where_above(mut self, by: Self, limit: f32, other: Self) -> Self {
        for lane in 0..WIDTH {
            let above = by.0[lane] > limit;
            self.0[lane] = if above { self.0[lane] } else { other.0[lane] };
        }
        self
    }

    #[inline(always)]
    fn all_between(self, low: f32, high: f32) -> bool {
        let mut all = true;
        for a in self.0 {
            all &= (a > low) & (a < high);
        }
        all
    }

    #[inline(always)]
    unsafe fn row(palette: *const Mat3x4, influence: &Influence, row: usize) -> [Self; 4] {
        let mut columns = [Plain([0.0; WIDTH]); 4];
        for (lane, offset) in influence.offsets.into_iter().enumerate() {
            // SAFETY: the caller guarantees an entry at every offset.
            let values = unsafe { rows(palette, offset) }[row].to_array();
            for (column, value) in columns.iter_mut().zip(values) {
                column.0[lane] = value;
            }
        }
        columns
    }

    #[inline(always)]
    unsafe fn blend(palette: *const Mat3x4, influences: &[Influence]) -> [[Self; 4]; 3] {
        let mut blended = [[Plain([0.0; WIDTH]); 4]; 3];
        let Some((first, others)) = influences.split_first() else {
            return blended;
        };
        for lane in 0..WIDTH {
            // SAFETY: the caller guarantees an entry at every offset.
            let base = unsafe { rows(palette, first.offsets[lane]) };
            let mut sum = base;
            for influence in others {
                // SAFETY: the caller guarantees an entry at every offset.
                let entry = unsafe { rows(palette, influence.offsets[lane]) };
                let weight = Vec4::splat(influence.weights.0[lane]);
                for row in 0..3 {
                    sum[row] += weight * (entry[row] - base[row]);
                }
            }
            for (columns, row) in blended.iter_mut().zip(sum) {
                for (column, value) in columns.iter_mut().zip(row.to_array()) {
                    column.0[lane] = value;
                }
            }
        }
        blended
    }

    #[inline(always)]
    unsafe fn write3(vectors: [Self; 3], to: *mut f32) {
        for lane in 0..WIDTH {
            for (axis, vector) in vectors.iter().enumerate() {
                // SAFETY: the caller guarantees 24 numbers, and `lane * 3 + axis` is less than 24.
                unsafe { to.add(lane * 3 + axis).write(vector.0[lane]) };
            }
        }
    }

    #[inline(always)]
    unsafe fn write4(vectors: [Self; 4], to: *mut f32) {
        for lane in 0..WIDTH {
            for (axis, vector) in vectors.iter().enumerate() {
                // SAFETY: the caller guarantees 32 numbers, and `lane * 4 + axis` is less than 32.
                unsafe { to.add(lane * 4 + axis).write(vector.0[lane]) };
            }
        }
    }
}
