//! Arithmetic of quaternions, with joints in the lanes.

use crate::simd::Lanes;

/// Approximates the reciprocal length of a rotation between two neighbouring keys.
///
/// The fit covers lengths from slightly more than 1 down to the length between keys a quarter of a
/// turn apart. Keys are not further apart, unless no rate brings them closer. The fit is off by
/// 1e-7.
///
/// # Safety
/// The CPU has the instructions that `L` needs.
#[inline(always)]
pub(super) unsafe fn inverse_length<L: Lanes>([x, y, z, w]: [L; 4]) -> L {
    // SAFETY: the caller guarantees the CPU features.
    let [one, a, b, c, d] = unsafe {
        [
            L::splat(1.0),
            L::splat(0.499_987_2),
            L::splat(0.375_845_8),
            L::splat(0.296_172),
            L::splat(0.391_362_5),
        ]
    };
    let less = y.neg_mul_add(y, x.neg_mul_add(x, one));
    let less = less.sub(z.mul_add(z, w.mul(w)));
    let slope = less.mul_add(less.mul_add(less.mul_add(d, c), b), a);
    less.mul_add(slope, one)
}

#[inline(always)]
pub(super) fn dot<L: Lanes>(a: [L; 4], b: [L; 4]) -> L {
    let [x, y, z, w] = a;
    let low = x.mul_add(b[0], y.mul(b[1]));
    low.add(z.mul_add(b[2], w.mul(b[3])))
}

/// An array of as many components as a rotation has, if `M` and `N` are four. Otherwise the result
/// means nothing.
#[inline(always)]
pub(super) fn resized<L: Lanes, const M: usize, const N: usize>(values: [L; M]) -> [L; N] {
    let mut all = [values[0]; N];
    for (own, value) in all.iter_mut().zip(&values) {
        *own = *value;
    }
    all
}
