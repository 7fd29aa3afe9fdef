//! The palette stage: local pose → model pose → skinning matrices.

use super::held::{Tolerance, unheld};
use super::{PaletteEntry, WriteOnly};
use crate::character::{Aabb, Affine, Character, NO_PARENT, PaletteJoint, Skeleton, Transform};
use crate::error::{ArgumentFault, Error, PoseAt, Result};
use bytemuck::{Pod, Zeroable};
use glam::{Vec3, Vec4};

/// A skinning matrix as the GPU reads it: the three upper rows of a 4×4 matrix, row by row,
/// 48 bytes. Maps mesh (bind) space to character space.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct Mat3x4 {
    /// `rows[r] = [m_r0, m_r1, m_r2, m_r3]`; the fourth column is the translation.
    pub rows: [[f32; 4]; 3],
}

const _: () = assert!(size_of::<Mat3x4>() == 48 && align_of::<Mat3x4>() == 16);

impl Mat3x4 {
    /// Changes nothing.
    pub const IDENTITY: Self = Self {
        rows: [
            [1.0, 0.0, 0.0, 0.0],
            [0.0, 1.0, 0.0, 0.0],
            [0.0, 0.0, 1.0, 0.0],
        ],
    };

    /// The same transform in the GPU's layout.
    #[inline]
    #[must_use]
    pub fn from_affine(affine: &Affine) -> Self {
        let (m, t) = (&affine.matrix3, affine.translation);
        Self {
            rows: [
                [m.x_axis.x, m.y_axis.x, m.z_axis.x, t.x],
                [m.x_axis.y, m.y_axis.y, m.z_axis.y, t.y],
                [m.x_axis.z, m.y_axis.z, m.z_axis.z, t.z],
            ],
        }
    }

    /// The same transform as an affine matrix.
    #[inline]
    #[must_use]
    pub fn to_affine(&self) -> Affine {
        let [x, y, z] = &self.rows;
        Affine::from_cols_array(&[
            x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2], x[3], y[3], z[3],
        ])
    }

    /// The image of a point.
    #[inline]
    #[must_use]
    pub fn transform_point(&self, point: Vec3) -> Vec3 {
        let p = point.extend(1.0);
        Vec3::from_array(self.rows.map(|row| Vec4::from_array(row).dot(p)))
    }
}

/// Model pose from local pose: `model[j] = model[parent(j)] × local[j]`, roots unchanged.
///
/// # Errors
/// [`Error::Argument`] if a slice does not have one element per joint; nothing is written then.
pub fn model_pose(skeleton: &Skeleton, local: &[Transform], model: &mut [Affine]) -> Result<()> {
    let joints = skeleton.joints();
    expect_len("local pose", local.len(), joints.len())?;
    expect_len("model pose", model.len(), joints.len())?;
    for (index, (joint, local)) in joints.iter().zip(local).enumerate() {
        let parent_from_local = local.to_affine();
        model[index] = if joint.parent == NO_PARENT {
            parent_from_local
        } else {
            model[usize::from(joint.parent)] * parent_from_local
        };
    }
    Ok(())
}

/// The palette from the model pose: `out[i] = model[joint(i)] × inverse_bind(i)`, written in order.
///
/// # Errors
/// [`Error::Argument`] if `model` does not have one element per joint, or `out` one per entry of
/// the palette; nothing is written then.
pub fn palette(
    character: &Character,
    model: &[Affine],
    mut out: WriteOnly<'_, Mat3x4>,
) -> Result<()> {
    expect_len("model pose", model.len(), character.skeleton().len())?;
    expect_len("palette", out.len(), character.palette().len())?;
    out.fill_with(
        character.palette().iter().map(|entry| {
            Mat3x4::from_affine(&(model[usize::from(entry.joint)] * entry.inverse_bind))
        }),
    )
}

/// The palette in one of the formats, by [`PaletteEntry::project`]: what the format can't hold is left away, as that
/// says. The frame's path; for [`Mat3x4`] the same as [`palette`].
///
/// # Errors
/// As [`palette`].
pub fn palette_projected<E: PaletteEntry>(
    character: &Character,
    model: &[Affine],
    mut out: WriteOnly<'_, E>,
) -> Result<()> {
    expect_len("model pose", model.len(), character.skeleton().len())?;
    expect_len("palette", out.len(), character.palette().len())?;
    let matrix =
        |entry: &PaletteJoint| E::project(&(model[usize::from(entry.joint)] * entry.inverse_bind));
    out.fill_with(character.palette().iter().map(matrix))
}

/// The palette in one of the formats, or what the pose has that the format can't hold: as poses do that
/// callers change or blend. What it can hold is measured as by [`check_method`](super::check_method()).
///
/// # Errors
/// As [`palette`]; [`Error::Unheld`], naming the joint, if the format can't hold a skinning matrix. The
/// entries before it have then been written.
pub fn palette_checked<E: PaletteEntry>(
    character: &Character,
    model: &[Affine],
    mut out: WriteOnly<'_, E>,
) -> Result<()> {
    expect_len("model pose", model.len(), character.skeleton().len())?;
    expect_len("palette", out.len(), character.palette().len())?;
    let held = Tolerance::of(character);
    let mut fault = None;
    let entries = character.palette().iter().map_while(|entry| {
        let matrix = model[usize::from(entry.joint)] * entry.inverse_bind;
        match held.entry::<E>(entry, &matrix) {
            Ok(held) => Some(held),
            Err(why) => {
                fault = Some((entry.joint, why));
                None
            }
        }
    });
    let written = out.fill_from(entries);
    match fault {
        None => written,
        Some((joint, why)) => Err(unheld(character, E::METHOD, joint, PoseAt::Given, why)),
    }
}

/// A box around the posed character, in character space: the union of each palette entry's box
/// under its skinning matrix. Never too small, usually somewhat too large.
///
/// A vertex is a convex combination of its entries' images, so the union holds it; it is
/// widened by what rounding can add on either side.
///
/// # Errors
/// [`Error::Argument`] if `palette` does not have one element per entry of the character's palette.
pub fn posed_bounds(character: &Character, palette: &[Mat3x4]) -> Result<Aabb> {
    expect_len("palette", palette.len(), character.palette().len())?;
    let (mut all, mut slack) = (Aabb::EMPTY, Vec3::ZERO);
    for (entry, matrix) in character.palette().iter().zip(palette) {
        if !entry.bounds.is_empty() {
            let (posed, magnitude) = posed_box(entry.bounds, matrix);
            all = all.union(posed);
            slack = slack.max(magnitude * ROUNDING);
        }
    }
    Ok(Aabb {
        min: all.min - slack,
        max: all.max + slack,
    })
}

/// Relative to the greatest sum of magnitudes that an entry's image of a coordinate is added up from. The skin
/// stage rounds each difference from the strongest entry, each product and each partial sum once, by at most
/// 2⁻²⁴ of two such sums: a blend of 16 influences and a point come to 2 × 21 of those, a box's own corners to
/// 8. More influences than 16 a vertex round in both directions and stay far below their worst case.
const ROUNDING: f32 = 64.0 / 16_777_216.0;

/// The box under the matrix, and the magnitudes that its coordinates are added up from.
fn posed_box(bounds: Aabb, matrix: &Mat3x4) -> (Aabb, Vec3) {
    let (center, half) = (bounds.center(), bounds.size() * 0.5);
    let spread = center.abs() + half;
    let axes = matrix.rows.map(|row| {
        let (axis, offset) = (Vec3::new(row[0], row[1], row[2]), row[3]);
        let magnitude = axis.abs().dot(spread) + offset.abs();
        (axis.dot(center) + offset, axis.abs().dot(half), magnitude)
    });
    let posed = Aabb {
        min: Vec3::from_array(axes.map(|(center, reach, _)| center - reach)),
        max: Vec3::from_array(axes.map(|(center, reach, _)| center + reach)),
    };
    (posed, Vec3::from_array(axes.map(|(_, _, sum)| sum)))
}

pub(super) fn expect_len(what: &'static str, got: usize, need: usize) -> Result<()> {
    if got == need {
        Ok(())
    } else {
        Err(Error::Argument {
            what,
            why: ArgumentFault::Length { got, need },
        })
    }
}
