//! Winding: which triangles the rest pose mirrors.

use crate::skeleton::Affine;
use glam::{DMat3, Mat3};

/// The linear part in `f64`: a determinant is a product of three, and near-singular ones keep their
/// sign.
pub(super) fn linear(affine: &Affine) -> DMat3 {
    Mat3::from(affine.matrix3).as_dmat3()
}

/// Reverses the triangles of which at least two vertices are mirrored, so that all are
/// counter-clockwise from the front in the rest pose.
pub(super) fn turn(indices: &mut [u32], mirrored: &[bool]) {
    for triangle in indices.as_chunks_mut::<3>().0 {
        let votes = triangle.iter().filter(|v| mirrored[**v as usize]);
        if votes.count() >= 2 {
            triangle.swap(1, 2);
        }
    }
}
