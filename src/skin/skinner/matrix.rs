//! Blended matrices and their effect on eight vertices at a time.

use super::deformer::Deformer;
use super::lanes::{Influence, Lanes};
use super::vector::{across, cross, dot, has_direction, unit};
use crate::palette::Mat3x4;

/// Three rows of four columns, for eight vertices.
pub(super) struct Matrix<L> {
    rows: [[L; 4]; 3],
}

impl<L: Lanes> Matrix<L> {
    #[inline(always)]
    fn linear(&self) -> [[L; 3]; 3] {
        let [[a, b, c, _], [d, e, f, _], [g, h, i, _]] = self.rows;
        [[a, b, c], [d, e, f], [g, h, i]]
    }

    /// The rows of the cofactor matrix.
    #[inline(always)]
    fn cofactors(&self) -> [[L; 3]; 3] {
        let [x, y, z] = self.linear();
        [cross(y, z), cross(z, x), cross(x, y)]
    }
}

impl<L: Lanes> Deformer<L> for Matrix<L> {
    type One = Mat3x4;

    #[inline(always)]
    unsafe fn blend(palette: *const Mat3x4, influences: &[Influence]) -> Self {
        // SAFETY: the caller guarantees the vector unit, at least one influence, and an entry at
        // each offset.
        let rows = unsafe { L::blend(palette, influences) };
        Self { rows }
    }

    fn of(&self, lane: usize) -> Mat3x4 {
        let mut one = Mat3x4::IDENTITY;
        for (to, from) in one.rows.iter_mut().zip(&self.rows) {
            for (to, from) in to.iter_mut().zip(from) {
                *to = from.block().0[lane];
            }
        }
        one
    }

    #[inline(always)]
    fn point(&self, [x, y, z]: [L; 3]) -> [L; 3] {
        let [a, b, c] = self.rows;
        let image = |[mx, my, mz, t]: [L; 4]| x.mul_add(mx, y.mul_add(my, z.mul_add(mz, t)));
        [image(a), image(b), image(c)]
    }

    #[inline(always)]
    fn normal(&self, normal: [L; 3]) -> [L; 3] {
        let cofactors = self.cofactors();
        let image = across(cofactors, normal);
        let squared = dot(image, image);
        if !has_direction(squared) {
            return self.careful_normal(normal);
        }
        let determinant = dot(self.linear()[0], cofactors[0]);
        let [x, y, z] = unit(image, squared);
        [
            x.flipped_by(determinant),
            y.flipped_by(determinant),
            z.flipped_by(determinant),
        ]
    }

    #[inline(always)]
    fn tangent(&self, tangent: [L; 4]) -> [L; 4] {
        let [x, y, z, sign] = tangent;
        let linear = self.linear();
        let image = across(linear, [x, y, z]);
        let squared = dot(image, image);
        if !has_direction(squared) {
            return self.careful_tangent(tangent);
        }
        let determinant = dot(linear[0], cross(linear[1], linear[2]));
        let [x, y, z] = unit(image, squared);
        [x, y, z, sign.flipped_by(determinant)]
    }
}
