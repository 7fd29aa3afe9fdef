//! Eight vertices side by side: what the kernels need of a vector unit besides [`Lanes`], and plain
//! code for it.

use crate::palette::Mat3x4;
pub(super) use crate::simd::{Eight, Plain, Row as Block, WIDTH};
use glam::Vec4;

/// One influence of each vertex of a block: a cache line.
#[repr(C, align(64))]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Influence {
    /// Of the entry, from the start of the character's palette, in bytes.
    pub(super) offsets: [u32; WIDTH],
    /// 0 to 1.
    pub(super) weights: Block,
}

/// What deforming needs of eight lanes.
pub(super) trait Lanes: Eight {
    /// # Safety
    /// The CPU has the vector unit.
    #[inline(always)]
    unsafe fn of(block: &Block) -> Self {
        // SAFETY: the caller's contract; a block is as long as the lanes, and aligned to them.
        unsafe { Self::load(block.0.as_ptr()) }
    }

    #[inline(always)]
    fn block(self) -> Block {
        let mut to = Block::default();
        // SAFETY: a block is as long as the lanes, and aligned to them.
        unsafe { self.store(to.0.as_mut_ptr()) };
        to
    }

    /// `1 / √self`; 1 where this is 1 to within `tolerance`.
    fn root_inverse_or_1(self, tolerance: f32) -> Self;
    /// These where `by` is more than `limit`, else `other`.
    fn where_above(self, by: Self, limit: f32, other: Self) -> Self;
    /// Whether all lie strictly between; what is not a number does not.
    fn all_between(self, low: f32, high: f32) -> bool;

    /// Row `row` of each vertex's entry, as four columns.
    ///
    /// # Safety
    /// The CPU has the vector unit. At every offset from `palette` there is an entry.
    unsafe fn row(palette: *const Mat3x4, influence: &Influence, row: usize) -> [Self; 4];

    /// The three rows of `M₀ + Σ wᵢ (Mᵢ - M₀)`, each as four columns: with entries that are all the
    /// same, exactly that entry.
    ///
    /// # Safety
    /// The CPU has the vector unit. There is an influence; at every offset from `palette` there is
    /// an entry.
    unsafe fn blend(palette: *const Mat3x4, influences: &[Influence]) -> [[Self; 4]; 3];

    /// Writes x, y, z of each vertex in ascending order: 24 numbers.
    ///
    /// # Safety
    /// `to` is valid for writing them.
    unsafe fn write3(vectors: [Self; 3], to: *mut f32);

    /// Writes x, y, z, w of each vertex in ascending order: 32 numbers.
    ///
    /// # Safety
    /// `to` is valid for writing them.
    unsafe fn write4(vectors: [Self; 4], to: *mut f32);
}

/// # Safety
/// At `offset` from `palette` there is an entry.
#[inline(always)]
unsafe fn rows(palette: *const Mat3x4, offset: u32) -> [Vec4; 3] {
    // SAFETY: the caller's contract. Offsets are multiples of an entry's size.
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
            // SAFETY: the caller's contract.
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
            // SAFETY: the caller's contract.
            let base = unsafe { rows(palette, first.offsets[lane]) };
            let mut sum = base;
            for influence in others {
                // SAFETY: the caller's contract.
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
                // SAFETY: the caller's contract: 24 numbers.
                unsafe { to.add(lane * 3 + axis).write(vector.0[lane]) };
            }
        }
    }

    #[inline(always)]
    unsafe fn write4(vectors: [Self; 4], to: *mut f32) {
        for lane in 0..WIDTH {
            for (axis, vector) in vectors.iter().enumerate() {
                // SAFETY: the caller's contract: 32 numbers.
                unsafe { to.add(lane * 4 + axis).write(vector.0[lane]) };
            }
        }
    }
}
