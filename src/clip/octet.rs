//! Eight numbers at a time, in portable code that compilers vectorise.
//!
//! Packing runs at import and must give the same bits on every CPU. So nothing here is fused, and a
//! wider vector unit only changes how many numbers one instruction processes.

use core::ops::{Add, Mul, Sub};

pub(super) const EIGHT: usize = 8;

/// Eight numbers, usually for eight times.
#[repr(C, align(32))]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Octet(pub(super) [f32; EIGHT]);

/// Eight affine matrices: three axes and a translation, of three numbers each.
pub(super) type Matrices = [Octet; 12];

impl Octet {
    #[inline(always)]
    pub(super) const fn splat(value: f32) -> Self {
        Self([value; EIGHT])
    }

    #[inline(always)]
    pub(super) fn map(mut self, each: impl Fn(f32) -> f32) -> Self {
        for value in &mut self.0 {
            *value = each(*value);
        }
        self
    }

    #[inline(always)]
    fn zip(mut self, other: Self, each: impl Fn(f32, f32) -> f32) -> Self {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a = each(*a, b);
        }
        self
    }

    /// The greater number in each lane. NaN in `other` is ignored.
    #[inline(always)]
    pub(super) fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if b > a { b } else { a })
    }

    #[inline(always)]
    pub(super) fn sqrt(self) -> Self {
        self.map(f32::sqrt)
    }

    /// Returns true if any of the numbers is greater than `least`.
    #[inline(always)]
    pub(super) fn any_above(self, least: f32) -> bool {
        let mut any = false;
        for value in self.0 {
            any |= value > least;
        }
        any
    }

    /// The greatest of the eight numbers.
    pub(super) fn greatest(self) -> f32 {
        self.0.into_iter().fold(f32::NEG_INFINITY, f32::max)
    }
}

impl Add for Octet {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
}

impl Sub for Octet {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
}

impl Mul for Octet {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }
}

/// Products of quaternions with components x, y, z, w.
#[inline(always)]
pub(super) fn turned(a: [Octet; 4], b: [Octet; 4]) -> [Octet; 4] {
    let [ax, ay, az, aw] = a;
    let [bx, by, bz, bw] = b;
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

#[inline(always)]
pub(super) fn normalised(mut q: [Octet; 4]) -> [Octet; 4] {
    let [x, y, z, w] = q;
    let squared = x * x + y * y + z * z + w * w;
    let reciprocal = squared.map(|squared| 1.0 / squared.sqrt());
    for part in &mut q {
        *part = *part * reciprocal;
    }
    q
}

/// Converts transforms to matrices. Components are in the order of a clip's rows: rotation,
/// translation, scale.
#[inline(always)]
pub(super) fn matrices(transforms: &[Octet; 10]) -> Matrices {
    let [x, y, z, w, tx, ty, tz, sx, sy, sz] = *transforms;
    let one = Octet::splat(1.0);
    let (x2, y2, z2) = (x + x, y + y, z + z);
    let (xx, xy, xz) = (x * x2, x * y2, x * z2);
    let (yy, yz, zz) = (y * y2, y * z2, z * z2);
    let (wx, wy, wz) = (w * x2, w * y2, w * z2);
    [
        (one - (yy + zz)) * sx,
        (xy + wz) * sx,
        (xz - wy) * sx,
        (xy - wz) * sy,
        (one - (xx + zz)) * sy,
        (yz + wx) * sy,
        (xz + wy) * sz,
        (yz - wx) * sz,
        (one - (xx + yy)) * sz,
        tx,
        ty,
        tz,
    ]
}

#[inline(always)]
pub(super) fn product(a: &Matrices, b: &Matrices) -> Matrices {
    let mut out = *a;
    for axis in 0..4 {
        for row in 0..3 {
            let [x, y, z] = [b[axis * 3], b[axis * 3 + 1], b[axis * 3 + 2]];
            let turned = a[row] * x + a[3 + row] * y + a[6 + row] * z;
            out[axis * 3 + row] = if axis == 3 {
                turned + a[9 + row]
            } else {
                turned
            };
        }
    }
    out
}
