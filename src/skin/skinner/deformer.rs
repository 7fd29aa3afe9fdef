//! The transforms of eight vertices at a time: by matrices, and by dual quaternions.

use super::lanes::{Influence, Lanes, across, cross, dot, has_direction, in_each, unit};
use crate::palette::Mat3x4;
use crate::skin::blend::{DEGENERATE, Motion};
use crate::skin::vertices::Deform;
use glam::{Vec3, Vec4};

/// The transform of a block of vertices.
pub(super) trait Deformer<L: Lanes>: Sized {
    type One: Deform;

    /// Blends the entries of a block.
    ///
    /// # Safety
    /// As [`Lanes::blend`].
    unsafe fn blend(palette: *const Mat3x4, influences: &[Influence]) -> Self;
    /// The transform of one vertex, for the plain code.
    fn of(&self, lane: usize) -> Self::One;
    fn point(&self, point: [L; 3]) -> [L; 3];
    fn normal(&self, normal: [L; 3]) -> [L; 3];
    fn tangent(&self, tangent: [L; 4]) -> [L; 4];

    /// Transforms a normal with the plain code, which handles every transform.
    #[cold]
    #[inline(never)]
    fn careful_normal(&self, normal: [L; 3]) -> [L; 3] {
        in_each(normal, |lane, normal| {
            let mut image = Vec3::from_array(normal);
            self.of(lane).directions(Some(&mut image), None);
            image.to_array()
        })
    }

    #[cold]
    #[inline(never)]
    fn careful_tangent(&self, tangent: [L; 4]) -> [L; 4] {
        in_each(tangent, |lane, tangent| {
            let mut image = Vec4::from_array(tangent);
            self.of(lane).directions(None, Some(&mut image));
            image.to_array()
        })
    }
}

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

/// A dual quaternion and, if `STRETCH`, a stretch applied before it.
///
/// The steps are those of the plain code.
pub(super) struct Dual<L, const STRETCH: bool> {
    real: [L; 4],
    dual: [L; 4],
    /// Unused without `STRETCH`.
    stretch: [L; 3],
}

#[inline(always)]
fn dot4<L: Lanes>([a, b, c, d]: [L; 4], [x, y, z, w]: [L; 4]) -> L {
    a.mul_add(x, b.mul_add(y, c.mul_add(z, d.mul(w))))
}

/// `sum + weight (±other − base)`, negative if `sign` is negative.
#[inline(always)]
fn add<L: Lanes, const N: usize>(
    sum: &mut [L; N],
    weight: L,
    other: [L; N],
    base: [L; N],
    sign: L,
) {
    for axis in 0..N {
        let difference = other[axis].flipped_by(sign).sub(base[axis]);
        sum[axis] = weight.mul_add(difference, sum[axis]);
    }
}

impl<L: Lanes, const STRETCH: bool> Dual<L, STRETCH> {
    /// Loads the entry of each vertex.
    ///
    /// # Safety
    /// As [`Lanes::row`].
    #[inline(always)]
    unsafe fn entry(palette: *const Mat3x4, influence: &Influence) -> Self {
        // SAFETY: the caller guarantees what `Lanes::row` requires: the vector unit, and an entry
        // at each offset.
        unsafe {
            let real = L::row(palette, influence, 0);
            Self {
                real,
                dual: L::row(palette, influence, 1),
                stretch: if STRETCH {
                    let [x, y, z, _] = L::row(palette, influence, 2);
                    [x, y, z]
                } else {
                    [real[0]; 3]
                },
            }
        }
    }

    /// Divides real and dual part by the length of the real part.
    ///
    /// Uses the base's parts if that length is too small.
    #[inline(always)]
    fn normalized(mut self, base: &Self) -> Self {
        let squared = dot4(self.real, self.real);
        let inverse = squared.root_inverse_or_1(0.0);
        for axis in 0..4 {
            self.real[axis] = self.real[axis].mul(inverse);
            self.dual[axis] = self.dual[axis].mul(inverse);
        }
        if !squared.all_between(DEGENERATE, f32::INFINITY) {
            for axis in 0..4 {
                self.real[axis] = self.real[axis].where_above(squared, DEGENERATE, base.real[axis]);
                self.dual[axis] = self.dual[axis].where_above(squared, DEGENERATE, base.dual[axis]);
            }
        }
        self
    }

    /// `p + 2 r × (r × p + w p)`
    #[inline(always)]
    fn rotate(&self, p: [L; 3]) -> [L; 3] {
        let [x, y, z, w] = self.real;
        let r = [x, y, z];
        let [a, b, c] = cross(r, p);
        let [px, py, pz] = p;
        let inner = [w.mul_add(px, a), w.mul_add(py, b), w.mul_add(pz, c)];
        let [a, b, c] = cross(r, inner);
        [px.add(a.add(a)), py.add(b.add(b)), pz.add(c.add(c))]
    }

    #[inline(always)]
    fn stretched(&self, [x, y, z]: [L; 3]) -> [L; 3] {
        if STRETCH {
            let [a, b, c] = self.stretch;
            [x.mul(a), y.mul(b), z.mul(c)]
        } else {
            [x, y, z]
        }
    }
}

impl<L: Lanes, const STRETCH: bool> Deformer<L> for Dual<L, STRETCH> {
    type One = Motion;

    fn of(&self, lane: usize) -> Motion {
        let four = |parts: [L; 4]| Vec4::from_array(parts.map(|part| part.block().0[lane]));
        Motion {
            real: four(self.real),
            dual: four(self.dual),
            stretch: if STRETCH {
                Vec3::from_array(self.stretch.map(|part| part.block().0[lane]))
            } else {
                Vec3::ONE
            },
        }
    }

    #[inline(always)]
    unsafe fn blend(palette: *const Mat3x4, influences: &[Influence]) -> Self {
        // SAFETY: the caller guarantees the vector unit, at least one influence, and an entry at
        // each offset.
        unsafe {
            let base = Self::entry(palette, influences.get_unchecked(0));
            let mut sum = Self { ..base };
            let others = influences.get_unchecked(1..);
            for influence in others {
                let entry = Self::entry(palette, influence);
                let weight = L::of(&influence.weights);
                let sign = dot4(entry.real, base.real);
                add(&mut sum.real, weight, entry.real, base.real, sign);
                add(&mut sum.dual, weight, entry.dual, base.dual, sign);
                if STRETCH {
                    for axis in 0..3 {
                        let difference = entry.stretch[axis].sub(base.stretch[axis]);
                        sum.stretch[axis] = weight.mul_add(difference, sum.stretch[axis]);
                    }
                }
            }
            if others.is_empty() {
                sum
            } else {
                sum.normalized(&base)
            }
        }
    }

    #[inline(always)]
    fn point(&self, point: [L; 3]) -> [L; 3] {
        let [x, y, z] = self.rotate(self.stretched(point));
        let ([rx, ry, rz, rw], [dx, dy, dz, dw]) = (self.real, self.dual);
        let [a, b, c] = cross([rx, ry, rz], [dx, dy, dz]);
        // Half the translation: `r_w d − d_w r + r × d`.
        let a = rw.mul_add(dx, dw.neg_mul_add(rx, a));
        let b = rw.mul_add(dy, dw.neg_mul_add(ry, b));
        let c = rw.mul_add(dz, dw.neg_mul_add(rz, c));
        [x.add(a.add(a)), y.add(b.add(b)), z.add(c.add(c))]
    }

    #[inline(always)]
    fn normal(&self, normal: [L; 3]) -> [L; 3] {
        let image = if STRETCH {
            let ([x, y, z], [a, b, c]) = (normal, self.stretch);
            self.rotate([b.mul(c).mul(x), c.mul(a).mul(y), a.mul(b).mul(z)])
        } else {
            self.rotate(normal)
        };
        let squared = dot(image, image);
        if has_direction(squared) {
            unit(image, squared)
        } else {
            self.careful_normal(normal)
        }
    }

    #[inline(always)]
    fn tangent(&self, tangent: [L; 4]) -> [L; 4] {
        let [x, y, z, sign] = tangent;
        let image = self.rotate(self.stretched([x, y, z]));
        let squared = dot(image, image);
        if !has_direction(squared) {
            return self.careful_tangent(tangent);
        }
        let [x, y, z] = unit(image, squared);
        [x, y, z, sign]
    }
}
