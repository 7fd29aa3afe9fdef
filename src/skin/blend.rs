//! Blending of palette entries, and the effect of the blends on a vertex.

use super::vertices::{Blend, Deform};
use crate::palette::{DualQuat, DualQuatStretch, Mat3x4, QuatOffset, rotate, translation};
use glam::{Mat3, Vec3, Vec4};

/// Blends as `M₀ + Σ wᵢ (Mᵢ − M₀)`, where `M₀` is the first and strongest influence.
///
/// This equals `Σ wᵢ Mᵢ`, but is exact if all matrices are equal, whatever the rounding of the
/// weights. The identity therefore changes no bit of a position.
fn linear(first: Mat3x4, others: impl Iterator<Item = (Mat3x4, f32)>) -> Mat3x4 {
    let mut sum = first;
    for (entry, weight) in others {
        for (row, sum) in sum.rows.iter_mut().enumerate() {
            for (column, sum) in sum.iter_mut().enumerate() {
                *sum += weight * (entry.rows[row][column] - first.rows[row][column]);
            }
        }
    }
    sum
}

impl Blend for Mat3x4 {
    type Blended = Self;

    fn blend<'a>(first: &'a Self, others: impl Iterator<Item = (&'a Self, f32)>) -> Self {
        linear(*first, others.map(|(entry, weight)| (*entry, weight)))
    }
}

/// Expands each entry to a matrix first.
impl Blend for QuatOffset {
    type Blended = Mat3x4;

    fn blend<'a>(first: &'a Self, others: impl Iterator<Item = (&'a Self, f32)>) -> Mat3x4 {
        linear(
            first.expand(),
            others.map(|(entry, weight)| (entry.expand(), weight)),
        )
    }
}

impl Deform for Mat3x4 {
    fn point(&self, point: Vec3) -> Vec3 {
        self.transform_point(point)
    }

    fn directions(&self, normal: Option<&mut Vec3>, tangent: Option<&mut Vec4>) {
        let directions = Directions::of(self);
        if let Some(normal) = normal {
            *normal = directions.normal(*normal);
        }
        if let Some(tangent) = tangent {
            *tangent = directions.tangent(*tangent);
        }
    }
}

/// The columns and cofactors of a matrix, scaled to a largest element of 1.
///
/// Without the scale, products of small elements would underflow.
struct Directions {
    columns: Mat3,
    cofactors: Mat3,
    /// The sign of the determinant; 1 if that is 0.
    sign: f32,
}

impl Directions {
    fn of(matrix: &Mat3x4) -> Self {
        let columns = Mat3::from(matrix.to_affine().matrix3);
        let all = [columns.x_axis, columns.y_axis, columns.z_axis];
        let largest = all.map(|column| column.abs().max_element());
        let largest = largest[0].max(largest[1]).max(largest[2]);
        let [x, y, z] = if largest > 0.0 {
            all.map(|column| column / largest)
        } else {
            all
        };
        let cofactors = Mat3::from_cols(y.cross(z), z.cross(x), x.cross(y));
        let flips = x.dot(cofactors.x_axis) < 0.0;
        Self {
            columns: Mat3::from_cols(x, y, z),
            cofactors,
            sign: if flips { -1.0 } else { 1.0 },
        }
    }

    fn normal(&self, normal: Vec3) -> Vec3 {
        unit_or(self.cofactors * normal * self.sign, normal)
    }

    /// Transforms the direction by the matrix itself, because it lies in the surface.
    ///
    /// The sign of the bitangent changes if the matrix flips.
    fn tangent(&self, tangent: Vec4) -> Vec4 {
        let direction = tangent.truncate();
        unit_or(self.columns * direction, direction).extend(tangent.w * self.sign)
    }
}

/// `image` at length 1, or `fallback` if it has no direction.
///
/// A vector of length 1 up to rounding is returned unchanged, so that the identity changes no bit.
pub(super) fn unit_or(image: Vec3, fallback: Vec3) -> Vec3 {
    if (image.length_squared() - 1.0).abs() <= 4.0 * f32::EPSILON {
        return image;
    }
    (image / image.abs().max_element()).normalize_or(fallback)
}

/// A blended dual quaternion with a real part of unit length, and the stretch applied before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Motion {
    pub(crate) real: Vec4,
    pub(crate) dual: Vec4,
    pub(crate) stretch: Vec3,
}

impl Motion {
    fn rigid(entry: &DualQuat) -> Self {
        Self {
            real: Vec4::from_array(entry.real),
            dual: Vec4::from_array(entry.dual),
            stretch: Vec3::ONE,
        }
    }

    fn with_stretch(entry: &DualQuatStretch) -> Self {
        Self {
            stretch: Vec4::from_array(entry.stretch).truncate(),
            ..Self::rigid(&entry.rigid)
        }
    }
}

/// A blend has no direction if the squared length of its real part is less than this.
pub(crate) const DEGENERATE: f32 = 1e-12;

/// Dual quaternion linear blending (Kavan et al. 2008, algorithm 1), in this order:
///
/// 1. The first influence, which is the strongest, is the base, `q₀`. An entry whose real part has
///    a negative dot product with the base's is negated, both real and dual part. `q` and `−q` are
///    the same transform, but only the nearer of the two blends on the shorter arc.
/// 2. `b = q₀ + Σ wᵢ (±qᵢ − q₀)` over the other influences, for real part, dual part and stretch
///    alike. This is exact if the entries are equal.
/// 3. Real and dual part are divided by the length of the real part. That length is at least the
///    base's weight, because no dot product is negative. It can vanish only if entries are not unit
///    quaternions. The base is then used unchanged, with the blended stretch.
///
/// A single influence is used unchanged.
fn blend(first: Motion, others: impl Iterator<Item = (Motion, f32)>) -> Motion {
    let mut sum = first;
    let mut alone = true;
    for (entry, weight) in others {
        let sign = if entry.real.dot(first.real) < 0.0 {
            -1.0
        } else {
            1.0
        };
        sum.real += weight * (sign * entry.real - first.real);
        sum.dual += weight * (sign * entry.dual - first.dual);
        sum.stretch += weight * (entry.stretch - first.stretch);
        alone = false;
    }
    if alone {
        return sum;
    }
    let squared = sum.real.length_squared();
    if squared > DEGENERATE {
        let length = squared.sqrt();
        sum.real /= length;
        sum.dual /= length;
    } else {
        (sum.real, sum.dual) = (first.real, first.dual);
    }
    sum
}

impl Blend for DualQuat {
    type Blended = Motion;

    fn blend<'a>(first: &'a Self, others: impl Iterator<Item = (&'a Self, f32)>) -> Motion {
        let others = others.map(|(entry, weight)| (Motion::rigid(entry), weight));
        blend(Motion::rigid(first), others)
    }
}

impl Blend for DualQuatStretch {
    type Blended = Motion;

    fn blend<'a>(first: &'a Self, others: impl Iterator<Item = (&'a Self, f32)>) -> Motion {
        let others = others.map(|(entry, weight)| (Motion::with_stretch(entry), weight));
        blend(Motion::with_stretch(first), others)
    }
}

impl Deform for Motion {
    /// Stretches, rotates and moves: `p' = rotate(real, stretch p) + translation(real, dual)`.
    fn point(&self, point: Vec3) -> Vec3 {
        rotate(self.real, self.stretch * point) + translation(self.real, self.dual)
    }

    fn directions(&self, normal: Option<&mut Vec3>, tangent: Option<&mut Vec4>) {
        let shape = self.shape();
        if let Some(normal) = normal {
            *normal = self.normal(shape, *normal);
        }
        if let Some(tangent) = tangent {
            *tangent = self.tangent(shape, *tangent);
        }
    }
}

impl Motion {
    /// The stretch divided by its largest factor.
    fn shape(&self) -> Vec3 {
        let largest = self.stretch.abs().max_element();
        if largest > 0.0 {
            self.stretch / largest
        } else {
            self.stretch
        }
    }

    /// Multiplies by the stretch's cofactors `(yz, zx, xy)`, then rotates.
    fn normal(&self, Vec3 { x, y, z }: Vec3, normal: Vec3) -> Vec3 {
        let image = Vec3::new(y * z, z * x, x * y) * normal;
        unit_or(rotate(self.real, image), normal)
    }

    /// Stretches and rotates. The sign of the bitangent stays, because nothing is flipped.
    fn tangent(&self, shape: Vec3, tangent: Vec4) -> Vec4 {
        let direction = tangent.truncate();
        let image = rotate(self.real, shape * direction);
        unit_or(image, direction).extend(tangent.w)
    }
}
