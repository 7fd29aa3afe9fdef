//! Linear blending of matrices, and their effect on normals and tangents.

use super::vertices::{Blend, Deform, each};
use crate::error::Result;
use crate::palette::{Mat3x4, QuatOffset};
use glam::{Mat3, Vec3, Vec4};

/// Blends as `M₀ + Σ wᵢ (Mᵢ − M₀)`, where `M₀` is the first and strongest influence.
///
/// This equals `Σ wᵢ Mᵢ`, but is exact if all matrices are equal, whatever the rounding of the
/// weights. The identity therefore changes no bit of a position.
fn blend<'a>(
    first: Mat3x4,
    others: impl Iterator<Item = Result<(Mat3x4, f32)>> + 'a,
) -> Result<Mat3x4> {
    let mut sum = first;
    for other in others {
        let (entry, weight) = other?;
        for (row, sum) in sum.rows.iter_mut().enumerate() {
            for (column, sum) in sum.iter_mut().enumerate() {
                *sum += weight * (entry.rows[row][column] - first.rows[row][column]);
            }
        }
    }
    Ok(sum)
}

impl Blend for Mat3x4 {
    type Blended = Self;

    fn blend(entries: &[Self], influences: impl Iterator<Item = (usize, f32)>) -> Result<Self> {
        let (first, others) = each(entries, influences)?;
        blend(*first, others.map(|other| other.map(|(m, w)| (*m, w))))
    }
}

/// Expands each entry to a matrix first.
impl Blend for QuatOffset {
    type Blended = Mat3x4;

    fn blend(entries: &[Self], influences: impl Iterator<Item = (usize, f32)>) -> Result<Mat3x4> {
        let (first, others) = each(entries, influences)?;
        blend(
            first.expand(),
            others.map(|other| other.map(|(entry, w)| (entry.expand(), w))),
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
