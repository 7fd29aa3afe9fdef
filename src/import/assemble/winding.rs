//! Winding: correction of triangles that the rest pose flips.

use glam::{Affine3A, DMat3, Mat3};

/// The linear part in `f64`, so that near-singular matrices keep the sign of their determinant,
/// which is a product of three factors.
pub(super) fn linear(affine: &Affine3A) -> DMat3 {
    Mat3::from(affine.matrix3).as_dmat3()
}

/// Flips the triangles that have at least two flipped vertices, so that all are counter-clockwise
/// seen from the front in the rest pose.
pub(super) fn flip(indices: &mut [u32], flipped: &[bool]) {
    for triangle in indices.as_chunks_mut::<3>().0 {
        let votes = triangle.iter().filter(|v| flipped[**v as usize]);
        if votes.count() >= 2 {
            triangle.swap(1, 2);
        }
    }
}
