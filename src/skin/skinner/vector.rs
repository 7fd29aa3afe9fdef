//! Operations on vectors of eight vertices.

use super::lanes::Lanes;
use crate::simd::{Row as Block, WIDTH};

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
