//! Vectors of eight vertices.

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

/// Whether vectors of these squared lengths can be normalised as they are. Then a component of each
/// is 1e-12 or more, next to which products that underflow do not count, and none has overflowed.
#[inline(always)]
pub(super) fn has_direction<L: Lanes>(squared: L) -> bool {
    squared.all_between(3e-24, 1e30)
}

/// Vectors at length 1, of squared lengths that [`has_direction`]. What is of length 1 up to
/// rounding is left as it is, as the plain code does.
///
/// By a root and a division: the quick approximations of both differ between makes of CPU, and then
/// so would the results.
#[inline(always)]
pub(super) fn unit<L: Lanes>(vectors: [L; 3], squared: L) -> [L; 3] {
    let factor = squared.root_inverse_or_1(4.0 * f32::EPSILON);
    let [x, y, z] = vectors;
    [x.mul(factor), y.mul(factor), z.mul(factor)]
}

/// Each vertex's vector by plain code.
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
    // SAFETY: the vectors prove the vector unit.
    blocks.map(|block: Block| unsafe { L::of(&block) })
}
