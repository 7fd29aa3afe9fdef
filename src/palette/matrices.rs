//! The palette stage: from a model pose to skinning matrices.

use super::entry::PaletteEntry;
use super::held::{Tolerance, unheld};
use super::mat3x4::Mat3x4;
use super::write_only::WriteOnly;
use crate::character::Character;
use crate::error::{PoseAt, Result, expect_len};
use crate::mesh::PaletteJoint;
use crate::skeleton::{Affine, rest_model_pose};

/// Handling of skinning matrices that a palette's format cannot represent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PaletteFit {
    /// Writes the nearest entry, see [`PaletteEntry::project`].
    #[default]
    Projected,
    /// Rejects them, with the tolerance of
    /// [`PaletteFormat::of`](crate::palette::PaletteFormat::of).
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
