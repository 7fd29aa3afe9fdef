//! The palette stage: from a model pose to skinning matrices.

use super::entry::PaletteEntry;
use super::held::{Tolerance, unheld};
use super::write_only::WriteOnly;
use crate::character::Character;
use crate::error::{PoseAt, Result, expect_len};
use crate::mesh::PaletteJoint;
use crate::skeleton::{Affine, rest_model_pose};
use bytemuck::{Pod, Zeroable};
use glam::{Vec3, Vec4};

/// A skinning matrix in the GPU's layout, 48 bytes.
///
/// It holds the upper three rows of a 4×4 matrix, row by row, and maps mesh (bind) space to
/// character space.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct Mat3x4 {
    /// The rows: `rows[r] = [m_r0, m_r1, m_r2, m_r3]`.
    ///
    /// The fourth column is the translation.
    pub rows: [[f32; 4]; 3],
}

const _: () = assert!(size_of::<Mat3x4>() == 48 && align_of::<Mat3x4>() == 16);

impl Mat3x4 {
    /// The identity.
    pub const IDENTITY: Self = Self {
        rows: [
            [1.0, 0.0, 0.0, 0.0],
            [0.0, 1.0, 0.0, 0.0],
            [0.0, 0.0, 1.0, 0.0],
        ],
    };

    /// Converts an affine matrix to the GPU's layout.
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

    /// Converts it to an affine matrix.
    #[inline]
    #[must_use]
    pub fn to_affine(&self) -> Affine {
        let [x, y, z] = &self.rows;
        Affine::from_cols_array(&[
            x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2], x[3], y[3], z[3],
        ])
    }

    /// Transforms a point.
    #[inline]
    #[must_use]
    pub fn transform_point(&self, point: Vec3) -> Vec3 {
        let p = point.extend(1.0);
        Vec3::from_array(self.rows.map(|row| Vec4::from_array(row).dot(p)))
    }
}

/// Handling of skinning matrices that a palette's format cannot represent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PaletteFit {
    /// Writes the nearest entry, see [`PaletteEntry::project`].
    #[default]
    Projected,
    /// Rejects them, with the tolerance of [`check_method`](crate::palette::check_method()).
    Checked,
}

/// Computes the palette of a model pose.
///
/// Entry `i` is `model[joint(i)] × inverse_bind(i)`. The format is that of the elements of `out`.
/// [`Mat3x4`] represents every matrix.
///
/// # Errors
/// - [`Error::Argument`](crate::Error::Argument) if `model` does not have one element per joint, or
///   `out` one per palette entry. Nothing is written then.
/// - [`Error::Unrepresentable`](crate::Error::Unrepresentable) with the joint, if `fit` is
///   [`PaletteFit::Checked`] and the format cannot represent a matrix. The entries before it have
///   then been written.
pub fn palette<E: PaletteEntry>(
    character: &Character,
    model: &[Affine],
    fit: PaletteFit,
    mut out: WriteOnly<'_, E>,
) -> Result<()> {
    expect_len("model pose", model.len(), character.skeleton().len())?;
    expect_len("palette", out.len(), character.palette().len())?;
    let matrix = |entry: &PaletteJoint| model[usize::from(entry.joint)] * entry.inverse_bind;
    let entries = character.palette().iter();
    if fit == PaletteFit::Projected {
        return out.fill_with(entries.map(|entry| E::project(&matrix(entry))));
    }
    let tolerance = Tolerance::of(character);
    let mut fault = None;
    let checked = entries.map_while(|entry| {
        let fits = tolerance.entry::<E>(entry, &matrix(entry));
        fits.map_err(|why| fault = Some((entry.joint, why))).ok()
    });
    let written = out.fill_from(checked);
    match fault {
        None => written,
        Some((joint, why)) => {
            let method = E::FORMAT.method();
            Err(unheld(character, method, joint, PoseAt::Given, why))
        }
    }
}

/// Computes the palette of the rest pose.
///
/// # Errors
/// The errors of [`palette`].
pub(crate) fn rest_palette(character: &Character) -> Result<Vec<Mat3x4>> {
    let model = rest_model_pose(character.skeleton())?;
    let mut rest = vec![Mat3x4::IDENTITY; character.palette().len()];
    let out = WriteOnly::over(&mut rest);
    palette(character, &model, PaletteFit::Projected, out)?;
    Ok(rest)
}
