//! Bounding boxes of posed characters, computed from palettes and morph weights alone.

use crate::character::Character;
use crate::error::{Result, expect_all_finite, expect_len};
use crate::mesh::Aabb;
use crate::palette::Mat3x4;
#[cfg(feature = "vulkan")]
use glam::Affine3A;
use glam::Vec3;

impl Character {
    /// The bounding box in a pose, in character space.
    ///
    /// `weights` has one number for each of [`Self::morph_weights`]. `None` means the weights at
    /// rest. The box is the union of each palette entry's box under its skinning matrix, and
    /// contains all levels of detail. It is never too small, and usually somewhat too large.
    ///
    /// A vertex is a convex combination of its images under the entries, so the union contains it.
    /// The box is widened by the rounding error of both computations.
    ///
    /// For morph targets, each palette entry's box is first widened by `Σ |wᵢ| rᵢ`. Here `rᵢ` is
    /// the largest distance, along each axis, that target `i` moves any vertex that the entry
    /// influences.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::error::Error::Argument) if `palette` or `weights` do not have one
    /// element per entry of the character's palette and per morph weight, or a weight is not
    /// finite.
    pub fn posed_bounds(&self, palette: &[Mat3x4], weights: Option<&[f32]>) -> Result<Aabb> {
        expect_len("palette", palette.len(), self.palette().len())?;
        let rest = self.morph_weights();
        let Some(weights) = weights else {
            let rest = |weight: usize| rest[weight].rest;
            return Ok(bounds(self, |entry| palette[entry], rest));
        };
        expect_len("morph weights", weights.len(), rest.len())?;
        expect_all_finite("morph weights", weights.iter().copied())?;
        let weight = |weight: usize| weights[weight];
        Ok(bounds(self, |entry| palette[entry], weight))
    }

    /// The bounding box in a model pose, as [`Self::posed_bounds`].
    ///
    /// There is one matrix for each joint, and one number for each morph weight.
    #[cfg(feature = "vulkan")]
    pub(crate) fn model_bounds(&self, model: &[Affine3A], weights: &[f32]) -> Aabb {
        let matrix = |entry: usize| {
            let entry = &self.palette()[entry];
            Mat3x4::from_affine(&(model[entry.joint.index()] * entry.inverse_bind))
        };
        bounds(self, matrix, |weight| weights[weight])
    }
}

fn bounds(
    character: &Character,
    matrix: impl Fn(usize) -> Mat3x4,
    weight: impl Fn(usize) -> f32,
) -> Aabb {
    let mut reaches = character.model().morph_reaches.iter().peekable();
    let (mut all, mut slack) = (Aabb::EMPTY, Vec3::ZERO);
    for (index, entry) in character.palette().iter().enumerate() {
        let (mut reach, mut active) = (Vec3::ZERO, 0_u32);
        while let Some(next) = reaches.next_if(|next| next.entry as usize == index) {
            let weight = weight(next.weight as usize);
            if weight != 0.0 {
                reach += weight.abs() * next.reach;
                active += 1;
            }
        }
        if !entry.bounds.is_empty() {
            let (posed, magnitude) = posed_box(entry.bounds, reach, active, &matrix(index));
            all = all.union(posed);
            slack = slack.max(magnitude * ROUNDING);
        }
    }
    Aabb {
        min: all.min - slack,
        max: all.max + slack,
    }
}

/// The largest relative error of one rounding.
const UNIT: f32 = 1.0 / 16_777_216.0;

/// The rounding margin, relative to the largest sum of magnitudes in an entry's coordinate.
///
/// The skin stage rounds each difference from the strongest entry, each product and each partial
/// sum once, by at most 2⁻²⁴ of two such sums. A blend of 16 influences and a point need 2 × 21 of
/// those, and the corners of a box 8. With more than 16 influences per vertex, the errors go in
/// both directions and stay far below the worst case.
const ROUNDING: f32 = 64.0 * UNIT;

/// The image of a box that `active` morph targets widen by `reach`.
///
/// Also returns the magnitudes that its coordinates are summed from.
fn posed_box(bounds: Aabb, reach: Vec3, active: u32, matrix: &Mat3x4) -> (Aabb, Vec3) {
    let (center, mut half) = (bounds.center(), bounds.size() * 0.5 + reach);
    if active > 0 {
        // The morph stage rounds a product and a sum for each target. The reach is summed in the
        // same way.
        half += (center.abs() + half) * (UNIT * 4.0 * (active as f32 + 1.0));
    }
    let spread = center.abs() + half;
    let axes = matrix.rows.map(|row| {
        let (axis, offset) = (Vec3::new(row[0], row[1], row[2]), row[3]);
        let magnitude = axis.abs().dot(spread) + offset.abs();
        let reach = axis.abs().dot(half);
        // NaN comes from zero times a reach that overflows 32 bits.
        let bounded = |value: f32| if value.is_nan() { f32::INFINITY } else { value };
        (
            axis.dot(center) + offset,
            bounded(reach),
            bounded(magnitude),
        )
    });
    let posed = Aabb {
        min: Vec3::from_array(axes.map(|(center, reach, _)| center - reach)),
        max: Vec3::from_array(axes.map(|(center, reach, _)| center + reach)),
    };
    (posed, Vec3::from_array(axes.map(|(_, _, sum)| sum)))
}
