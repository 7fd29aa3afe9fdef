//! Detection of palette entries that a clip may flip.

use super::asset::Character;
use super::scale_ranges::Signs;
use glam::{Affine3A, DMat3, Mat3};

/// The linear part in `f64`, so that near-singular matrices keep the sign of their determinant,
/// which is a product of three factors.
fn linear(affine: &Affine3A) -> DMat3 {
    Mat3::from(affine.matrix3).as_dmat3()
}

/// Sets `may_flip` of every palette entry.
///
/// The determinant of a skinning matrix is the product of the scales of the joint and its ancestors
/// and of the inverse bind matrix's determinant. Each component of a scale stays within the hull of
/// its rest value and of all tracks that drive it, and so does every blend of them. The signs that
/// the hulls allow are multiplied along the chain.
pub(crate) fn mark_flips(character: &mut Character) {
    let signs = character.scales.chain_signs(&character.model.skeleton);
    for entry in &mut character.model.palette {
        let bind = Signs::of(linear(&entry.inverse_bind).determinant());
        let signs = signs[usize::from(entry.joint)].times(bind);
        entry.may_flip = if entry.flipped {
            signs.positive
        } else {
            signs.negative
        };
    }
}
