//! Affine matrices taken apart into what the palette's formats hold, and what they don't hold said.

use crate::error::Unrepresentable;
use crate::skeleton::Affine;
use glam::{Mat3, Quat, Vec3};

/// By how much a matrix may leave a format's set and still count as rounding: the cosine of the
/// angle between two axes, and the difference of two scales by the greater one.
pub(crate) const ROUNDING: f32 = 1e-4;

/// An axis shorter than this, by the longest one, has no direction that could be told from
/// rounding.
const FLAT: f32 = 1e-6;

/// The parts of a matrix `translation · rotation · stretch`, or of the nearest such matrix in the
/// sense of [`split`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parts {
    /// Of unit length.
    pub(crate) rotation: Quat,
    pub(crate) translation: Vec3,
    /// Along the axes of mesh space, not negative.
    pub(crate) stretch: Vec3,
}

/// Takes `matrix` apart; exact where it is a rotation, translation and positive stretch along the
/// axes of mesh space, finite for every matrix.
///
/// - The translation is the matrix's own.
/// - The stretch is the lengths of its columns.
/// - The rotation is what Gram and Schmidt's orthonormalisation makes of the first and the second
///   column, and their cross product (G. H. Golub and C. F. Van Loan, Matrix Computations, 4th ed.,
///   2013, section 5.2.7). Unlike the polar decomposition, whose rotation is nearer where there is
///   shear, it takes no iteration and a shader does the same in a few lines; and it is continuous
///   wherever the columns are independent. A shear is thus undone by turning the second and third
///   axes, and a mirror by reversing the third.
/// - A column of zero length has zero stretch, and a direction that completes the others' to a
///   rotation.
/// - Parts that are not finite become those of the identity.
pub(crate) fn split(matrix: &Affine) -> Parts {
    let translation = Vec3::from(matrix.translation);
    let (columns, largest) = scaled(matrix);
    let stretch = Vec3::from_array(columns.map(|column| column.length() * largest));
    let known = stretch.is_finite();
    Parts {
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

/// The columns by their largest element, and that: so no square overflows or underflows.
fn scaled(matrix: &Affine) -> ([Vec3; 3], f32) {
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

/// `v` at length 1, if it has a direction. Where the longest column is about 1 long.
fn direction(v: Vec3) -> Option<Vec3> {
    let length = v.length();
    (length > FLAT).then(|| v / length)
}

/// A rotation from three columns of which the largest element is 1 or 0.
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

/// Which of a format's limits a matrix passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scales {
    /// Any positive ones along the axes of mesh space.
    Any,
    /// One for all axes.
    Uniform,
    /// None but 1.
    One,
}

/// What no rotation, translation and positive stretch holds at all, however small its effect.
pub(crate) fn outside(matrix: &Affine) -> Option<Unrepresentable> {
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
        Unrepresentable::Mirror { determinant }
    })
}

/// The limit that `matrix` passes by most, and by how much; `None` where it is none by more than
/// `tolerance`.
pub(crate) fn beyond(matrix: &Affine, scales: Scales, tolerance: f32) -> Option<Unrepresentable> {
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
