//! Winding: the sign of matrices, and triangles that the rest pose flips.

use glam::{Affine3A, DMat3, Mat3};

/// The linear part in `f64`, so that near-singular matrices keep the sign of their determinant,
/// which is a product of three factors.
pub(crate) fn linear(affine: &Affine3A) -> DMat3 {
    Mat3::from(affine.matrix3).as_dmat3()
}

/// For each vertex, true if its blended matrix has a negative determinant.
///
/// `matrices` are the linear parts of the skinning matrices. `entries` and `weights` (of 65,535)
/// hold `per_vertex` influences per vertex.
pub(crate) fn flipped_vertices(
    matrices: &[DMat3],
    entries: impl Iterator<Item = (usize, u16)>,
    per_vertex: usize,
) -> Vec<bool> {
    let mut flipped = Vec::new();
    let (mut blend, mut left) = (DMat3::ZERO, per_vertex);
    for (entry, weight) in entries {
        blend += matrices[entry] * (f64::from(weight) / 65_535.0);
        left -= 1;
        if left == 0 {
            flipped.push(blend.determinant() < 0.0);
            (blend, left) = (DMat3::ZERO, per_vertex);
        }
    }
    flipped
}

/// Flips the triangles that have at least two flipped vertices.
///
/// A file's triangles are then counter-clockwise, seen from the front in the rest pose. Doing it
/// again restores them.
pub(crate) fn flip_triangles(indices: &mut [u32], flipped: &[bool]) {
    for triangle in indices.as_chunks_mut::<3>().0 {
        let votes = triangle.iter().filter(|v| flipped[**v as usize]);
        if votes.count() >= 2 {
            triangle.swap(1, 2);
        }
    }
}
