//! Decomposes affine matrices for the palette formats, and reports what a format cannot represent.

use crate::error::Unrepresentable;
use glam::{Affine3A, Mat3, Quat, Vec3};

/// Tolerance for rounding: the cosine of the angle between two axes, and the difference of two
/// scales over the greater one.
pub(crate) const ROUNDING: f32 = 1e-4;

/// An axis shorter than this, relative to the longest one, has no direction distinguishable from
/// rounding.
const FLAT: f32 = 1e-6;

/// The factors of a matrix `translation · rotation · stretch`, or of the matrix of this form that
/// [`split`] finds nearest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Factors {
    /// Unit quaternion.
    pub(crate) rotation: Quat,
    pub(crate) translation: Vec3,
    /// Lengths along the axes of mesh space, never negative.
    pub(crate) stretch: Vec3,
}

/// Decomposes `matrix` into translation, rotation and stretch.
///
/// The result is exact if the matrix consists of a rotation, a translation and a positive stretch
/// along the axes of mesh space. It is finite for every matrix.
///
/// - The translation is the matrix's own.
/// - The stretch is the lengths of its columns.
/// - The rotation is the Gram–Schmidt orthonormalisation of the first and the second column, and
///   their cross product (G. H. Golub and C. F. Van Loan, Matrix Computations, 4th ed., 2013,
///   section 5.2.7). The rotation of the polar decomposition is nearer if there is shear. But this
///   one takes no iteration, a shader computes it in a few lines, and it is continuous wherever the
///   columns are independent. It removes shear by turning the second and third axes, and a
///   reflection by negating the third axis.
/// - A column of zero length has zero stretch, and a direction that completes the other columns to
///   a rotation.
/// - Factors that are not finite become those of the identity.
pub(crate) fn split(matrix: &Affine3A) -> Factors {
    let translation = Vec3::from(matrix.translation);
    let (columns, largest) = scaled(matrix);
    let stretch = Vec3::from_array(columns.map(|column| column.length() * largest));
    let known = stretch.is_finite();
    Factors {
        rotation: if known {
            Quat::from_mat3(&orthonormal(columns)).normalize()
        } else {
            Quat::IDENTITY
        },
        translation: if translation.is_finite() {
            translation
        } else {
            Vec3::ZERO
        },
        stretch: if known { stretch } else { Vec3::ONE },
    }
}

/// Divides the columns by their largest element and returns it, so that no square overflows or
/// underflows.
fn scaled(matrix: &Affine3A) -> ([Vec3; 3], f32) {
    let m = Mat3::from(matrix.matrix3);
    let columns = [m.x_axis, m.y_axis, m.z_axis];
    let largest = columns.map(|column| column.abs().max_element());
    let largest = largest[0].max(largest[1]).max(largest[2]);
    if largest > 0.0 {
        (columns.map(|column| column / largest), largest)
    } else {
        (columns, 1.0)
    }
}

/// Normalises `v` if it has a direction. Assumes that the longest column has a length of about 1.
fn direction(v: Vec3) -> Option<Vec3> {
    let length = v.length();
    (length > FLAT).then(|| v / length)
}

/// Makes a rotation from three columns whose largest element is 1 or 0.
fn orthonormal([a, b, c]: [Vec3; 3]) -> Mat3 {
    let across = |v: Vec3, axis: Vec3| direction(v - axis * axis.dot(v));
    if let Some(x) = direction(a) {
        let y = across(b, x)
            .or_else(|| across(c, x).map(|z| z.cross(x)))
            .unwrap_or_else(|| x.any_orthonormal_vector());
        Mat3::from_cols(x, y, x.cross(y))
    } else if let Some(y) = direction(b) {
        let z = across(c, y).unwrap_or_else(|| y.any_orthonormal_vector());
        Mat3::from_cols(y.cross(z), y, z)
    } else if let Some(z) = direction(c) {
        let y = z.any_orthonormal_vector();
        Mat3::from_cols(y.cross(z), y, z)
    } else {
        Mat3::IDENTITY
    }
}

/// The scales that a format can represent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scales {
    /// Any positive scales along the axes of mesh space.
    Any,
    /// One scale for all axes.
    Uniform,
    /// Only a scale of 1.
    One,
}

/// Reports matrices that no rotation, translation and positive stretch represents: not finite,
/// reflected, or of zero scale.
pub(crate) fn outside(matrix: &Affine3A) -> Option<Unrepresentable> {
    if !matrix.is_finite() {
        return Some(Unrepresentable::NotFinite);
    }
    let (columns, largest) = scaled(matrix);
    let lengths = columns.map(Vec3::length);
    let longest = lengths[0].max(lengths[1]).max(lengths[2]);
    if let Some(axis) = lengths.iter().position(|l| *l <= FLAT * longest) {
        return Some(Unrepresentable::ZeroScale {
            axis: axis as u8,
            scale: lengths[axis] * largest,
        });
    }
    let [x, y, z] = [0, 1, 2].map(|axis| columns[axis] / lengths[axis]);
    let volume = x.dot(y.cross(z));
    (volume < 0.0).then(|| {
        let scales = lengths[0] * lengths[1] * lengths[2];
        let determinant = volume * scales * largest * largest * largest;
        Unrepresentable::Flipped { determinant }
    })
}

/// Returns the limit that `matrix` exceeds most, and by how much. `None` if it exceeds none by more
/// than `tolerance`.
pub(crate) fn beyond(matrix: &Affine3A, scales: Scales, tolerance: f32) -> Option<Unrepresentable> {
    if let Some(why) = outside(matrix) {
        return Some(why);
    }
    let (columns, largest) = scaled(matrix);
    let lengths = columns.map(Vec3::length);
    let [x, y, z] = [0, 1, 2].map(|axis| columns[axis] / lengths[axis]);
    let cosines = [x.dot(y).abs(), y.dot(z).abs(), z.dot(x).abs()];
    let cosine = cosines[0].max(cosines[1]).max(cosines[2]);
    let least = lengths[0].min(lengths[1]).min(lengths[2]) * largest;
    let greatest = lengths[0].max(lengths[1]).max(lengths[2]) * largest;
    let (spread, why) = match scales {
        Scales::Any => (0.0, Unrepresentable::Shear { cosine }),
        Scales::Uniform => (
            (greatest - least) / greatest,
            Unrepresentable::NonUniformScale { least, greatest },
        ),
        Scales::One => (
            (greatest - 1.0).abs().max((least - 1.0).abs()),
            Unrepresentable::Scale { least, greatest },
        ),
    };
    if cosine.max(spread) <= tolerance {
        None
    } else if cosine >= spread {
        Some(Unrepresentable::Shear { cosine })
    } else {
        Some(why)
    }
}
