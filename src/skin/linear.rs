//! Linear blending: matrices, and what they do to normals and tangents.

use super::vertices::{Blend, Deform, each};
use crate::error::Result;
use crate::palette::{Mat3x4, QuatOffset};
use glam::{Mat3, Vec3, Vec4};

/// `M₀ + Σ wᵢ (Mᵢ − M₀)` over the influences after the first, which is the strongest: the same as
/// `Σ wᵢ Mᵢ`, but exact wherever the matrices are equal, whatever the weights round to. So the
/// identity changes no bit of a position.
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

/// Each entry is expanded first.
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

/// A matrix's columns and cofactors, scaled to a largest element of 1: products of small elements
/// would underflow.
struct Directions {
    columns: Mat3,
    cofactors: Mat3,
    /// Of the determinant; 1 where that is 0.
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
        let mirrors = x.dot(cofactors.x_axis) < 0.0;
        Self {
            columns: Mat3::from_cols(x, y, z),
            cofactors,
            sign: if mirrors { -1.0 } else { 1.0 },
        }
    }

    fn normal(&self, normal: Vec3) -> Vec3 {
        unit_or(self.cofactors * normal * self.sign, normal)
    }

    /// The direction by the matrix itself, as it lies in the surface; the bitangent's sign turns
    /// with a mirror.
    fn tangent(&self, tangent: Vec4) -> Vec4 {
        let direction = tangent.truncate();
        unit_or(self.columns * direction, direction).extend(tangent.w * self.sign)
    }
}

/// `image` at length 1, or `fallback` where it has no direction. What is of length 1 up to rounding
/// is left as it is, so that the identity changes no bit.
pub(super) fn unit_or(image: Vec3, fallback: Vec3) -> Vec3 {
    if (image.length_squared() - 1.0).abs() <= 4.0 * f32::EPSILON {
        return image;
    }
    (image / image.abs().max_element()).normalize_or(fallback)
}
