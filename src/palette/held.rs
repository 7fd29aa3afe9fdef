//! Checks that a palette's format represents a skinning matrix closely enough.

use super::entry::PaletteEntry;
use super::format::SkinningMethod;
use super::project::outside;
use crate::character::Character;
use crate::error::{Error, Unrepresentable};
use crate::id::Id;
use crate::mesh::{Aabb, PaletteJoint};
use crate::skeleton::Joint;
use glam::{Affine3A, Vec3};

/// Largest displacement of the vertices of a palette entry, relative to the model's size (the
/// largest edge of the box around it at rest). It is a fifth of a millimetre on an adult, which is
/// invisible. Rounding in files and in the palette stage is a tenth of it; intentional shear or
/// stretch is far larger.
pub(crate) const DISPLACEMENT: f32 = 1e-4;

/// Rounding error of a displacement, relative to the largest number that a transformed coordinate
/// is summed from: 32 roundings of 2⁻²⁴. It matters if a model is a hundred times its size away
/// from the origin of its space.
const ROUNDING: f32 = 32.0 / 16_777_216.0;

/// The allowed displacement of a character's palette entries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tolerance {
    metres: f32,
}

impl Tolerance {
    pub(crate) fn of(character: &Character) -> Self {
        let metres = DISPLACEMENT * character.rest_bounds().size().max_element();
        Self { metres }
    }

    /// Converts `matrix` to an entry, if no corner of the box that `joint` moves is displaced by
    /// more than the tolerance.
    ///
    /// Reflections and zero scales are rejected however small their effect is: only matrices can
    /// represent them, and normals depend on them.
    ///
    /// The displacement is affine in the point, so its length is greatest at a corner of the box.
    pub(crate) fn entry<E: PaletteEntry>(
        &self,
        joint: &PaletteJoint,
        matrix: &Affine3A,
    ) -> Result<E, Unrepresentable> {
        let entry = E::project(matrix);
        if E::FORMAT.method() == SkinningMethod::Linear {
            return Ok(entry);
        }
        if let Some(why) = outside(matrix) {
            return Err(why);
        }
        let got = displacement(joint.bounds, matrix, &entry.to_affine());
        if got <= self.metres + ROUNDING * magnitude(joint.bounds, matrix) {
            return Ok(entry);
        }
        // The matrix exceeds some limit, if only by rounding. If it exceeds none, the numbers
        // overflow.
        Err(E::limit(matrix, 0.0).unwrap_or(Unrepresentable::NotFinite))
    }
}

/// Largest distance between the images of a box's corners under the two matrices.
fn displacement(bounds: Aabb, exact: &Affine3A, held: &Affine3A) -> f32 {
    if bounds.is_empty() {
        return 0.0;
    }
    let linear = exact.matrix3 - held.matrix3;
    let offset = exact.translation - held.translation;
    let mut worst = 0.0_f32;
    for corner in 0..8 {
        let pick = |axis: usize| {
            let far = corner >> axis & 1 == 1;
            if far {
                bounds.max[axis]
            } else {
                bounds.min[axis]
            }
        };
        let point = Vec3::new(pick(0), pick(1), pick(2));
        let apart = (linear * point + Vec3::from(offset)).length();
        if apart.is_nan() {
            return f32::INFINITY;
        }
        worst = worst.max(apart);
    }
    worst
}

/// Largest magnitude among the numbers that a transformed coordinate of the box is summed from.
fn magnitude(bounds: Aabb, matrix: &Affine3A) -> f32 {
    let spread = if bounds.is_empty() {
        Vec3::ZERO
    } else {
        bounds.min.abs().max(bounds.max.abs())
    };
    let sums = matrix.matrix3.abs() * spread + Vec3::from(matrix.translation).abs();
    sums.max_element()
}

/// The error about a joint whose matrix the format cannot represent.
pub(crate) fn unheld(
    character: &Character,
    method: SkinningMethod,
    joint: Id<Joint>,
    at: impl Into<Box<str>>,
    why: Unrepresentable,
) -> Error {
    let joints = character.skeleton().joints();
    let name = joints
        .get(usize::from(joint))
        .map(|joint| joint.name.clone());
    Error::Unrepresentable {
        method: method.name(),
        joint: joint.0,
        name: name.unwrap_or_default(),
        at: at.into(),
        why,
    }
}
