//! The palette stage: from a model pose to skinning matrices.

use super::entry::PaletteEntry;
use super::format::{Mat3x4, PaletteFormat, with_entry};
use super::held::{Tolerance, unheld};
use super::write_only::WriteOnly;
use crate::character::Character;
use crate::error::{Result, expect_len};
use crate::mesh::{Model, PaletteJoint};
use crate::skeleton::rest_model_pose;
use glam::Affine3A;

impl Character {
    /// Computes the palette of a model pose.
    ///
    /// ```
    /// use throng::glam::Affine3A;
    /// use throng::palette::Mat3x4;
    ///
    /// let character = throng::builtin::mannequin()?.character;
    /// let skeleton = character.skeleton();
    /// let mut model = vec![Affine3A::IDENTITY; skeleton.len()];
    /// skeleton.model_pose(&skeleton.rest_pose(), &mut model)?;
    /// let mut palette = vec![Mat3x4::IDENTITY; character.palette().len()];
    /// character.write_palette(&model, &mut palette)?;
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// Entry `i` is `model[joint(i)] × inverse_bind(i)`. The format is that of the elements of
    /// `out`, which [`WriteOnly::from`] makes of a slice. A matrix that the format cannot represent
    /// becomes the nearest entry, see [`PaletteEntry::project`]. [`Mat3x4`] represents every
    /// matrix.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if `model` does not have one element per joint,
    /// or `out` one per palette entry, or if `out` is not aligned for its elements. Nothing is
    /// written then.
    pub fn write_palette<'o, E: PaletteEntry>(
        &self,
        model: &[Affine3A],
        out: impl Into<WriteOnly<'o, E>>,
    ) -> Result<()> {
        let mut out = out.into();
        expect_fitting(self, model, &out)?;
        let entries = self.palette().iter();
        out.fill_with(entries.map(|entry| E::project(&matrix(model, entry))))
    }

    /// Checks that a format can represent the palette of a model pose of the right length.
    pub(crate) fn check_palette(&self, model: &[Affine3A], format: PaletteFormat) -> Result<()> {
        match format {
            // Matrices can represent any pose.
            PaletteFormat::Mat3x4 => Ok(()),
            format => with_entry!(format, E => self.check_palette_as::<E>(model)),
        }
    }

    fn check_palette_as<E: PaletteEntry>(&self, model: &[Affine3A]) -> Result<()> {
        let tolerance = Tolerance::of(self);
        self.palette().iter().try_for_each(|entry| {
            let fits = tolerance.entry::<E>(entry, &matrix(model, entry));
            fits.map(|_| ()).map_err(|why| {
                let method = E::FORMAT.method();
                unheld(self, method, entry.joint, "the given pose", why)
            })
        })
    }
}

/// Checks the lengths of a model pose and of a palette, and the palette's alignment.
fn expect_fitting<E: PaletteEntry>(
    character: &Character,
    model: &[Affine3A],
    out: &WriteOnly<'_, E>,
) -> Result<()> {
    expect_len("model pose", model.len(), character.skeleton().len())?;
    expect_len("palette", out.len(), character.palette().len())?;
    out.expect_aligned("palette")
}

/// The skinning matrix of a palette entry. The lengths are checked.
fn matrix(model: &[Affine3A], entry: &PaletteJoint) -> Affine3A {
    model[usize::from(entry.joint)] * entry.inverse_bind
}

/// Computes the palette of the rest pose.
pub(crate) fn rest_palette(model: &Model) -> Result<Vec<Mat3x4>> {
    let pose = rest_model_pose(&model.skeleton);
    let entries = model.palette.iter();
    Ok(entries
        .map(|entry| Mat3x4::project(&matrix(&pose, entry)))
        .collect())
}
