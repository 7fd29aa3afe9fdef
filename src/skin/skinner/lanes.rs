//! The SIMD operations on eight vertices side by side that the kernels need.

pub(super) use crate::simd::{Eight, Row as Block, WIDTH};

use crate::palette::Mat3x4;

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

#[inline(always)]
pub(super) fn dot<L: Lanes>([a, b, c]: [L; 3], [x, y, z]: [L; 3]) -> L {
    a.mul_add(x, b.mul_add(y, c.mul(z)))
}

#[inline(always)]
pub(super) fn cross<L: Lanes>([a, b, c]: [L; 3], [x, y, z]: [L; 3]) -> [L; 3] {
    [
        c.neg_mul_add(y, b.mul(z)),
        a.neg_mul_add(z, c.mul(x)),
        b.neg_mul_add(x, a.mul(y)),
    ]
}

/// A matrix, by rows, times a vector.
#[inline(always)]
pub(super) fn across<L: Lanes>([x, y, z]: [[L; 3]; 3], vector: [L; 3]) -> [L; 3] {
    [dot(x, vector), dot(y, vector), dot(z, vector)]
}

/// True if vectors of these squared lengths can be normalised directly.
///
/// Then each has a component of at least 1e-12, so products that underflow are negligible, and none
/// has overflowed.
#[inline(always)]
pub(super) fn has_direction<L: Lanes>(squared: L) -> bool {
    squared.all_between(3e-24, 1e30)
}

/// Normalises vectors whose squared lengths pass [`has_direction`].
///
/// A vector of length 1 up to rounding is left unchanged, as in the plain code.
///
/// It uses a square root and a division. The fast approximations of both differ between CPU
/// vendors, and then the results would differ, too.
#[inline(always)]
pub(super) fn unit<L: Lanes>(vectors: [L; 3], squared: L) -> [L; 3] {
    let factor = squared.root_inverse_or_1(4.0 * f32::EPSILON);
    let [x, y, z] = vectors;
    [x.mul(factor), y.mul(factor), z.mul(factor)]
}

/// Applies plain code to each vertex's vector.
pub(super) fn in_each<L: Lanes, const N: usize>(
    vectors: [L; N],
    one: impl Fn(usize, [f32; N]) -> [f32; N],
) -> [L; N] {
    let mut blocks = vectors.map(L::block);
    for lane in 0..WIDTH {
        let image = one(lane, std::array::from_fn(|axis| blocks[axis].0[lane]));
        for (block, value) in blocks.iter_mut().zip(image) {
            block.0[lane] = value;
        }
    }
    // SAFETY: the input vectors exist, so the CPU has the vector unit.
    blocks.map(|block: Block| unsafe { L::of(&block) })
}
