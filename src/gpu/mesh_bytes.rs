//! The device memory of a character, computed without a device.

use super::encode::Geometry;
use super::textures::{self, ImageFigures};
use super::{Features, SkinnedMesh, palettes};
use crate::character::Character;
use crate::error::Result;
use crate::palette::{PaletteFormat, SkinningMethod};

impl SkinnedMesh {
    /// The bytes of the buffers that [`Self::new`] asks the allocator for. Needs no device.
    ///
    /// There are two: one for primitives, materials, vertex streams, morph targets and indices, and
    /// one for the palette of the rest pose. Padding that the device adds is not included.
    ///
    /// ```
    /// use throng::gpu::SkinnedMesh;
    /// use throng::palette::{PaletteFormat, SkinningMethod};
    ///
    /// let character = throng::builtin::mannequin()?.character;
    /// let method = SkinningMethod::Linear;
    /// let bytes = SkinnedMesh::buffer_bytes(&character, method)?;
    /// let entry_bytes = PaletteFormat::of(&character, method)?.entry_bytes();
    /// let rest_palette = (character.palette().len() * entry_bytes) as u64;
    /// println!("{bytes} bytes, including {rest_palette} for the rest palette");
    /// # assert!(bytes > rest_palette);
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::Unrepresentable`](crate::Error::Unrepresentable) as [`Self::new`].
    /// - [`Error::Capacity`](crate::Error::Capacity) if the mesh has 2³² words or more.
    pub fn buffer_bytes(character: &Character, method: SkinningMethod) -> Result<u64> {
        let format = PaletteFormat::of(character, method)?;
        let geometry = Geometry::new(character, (format, false), u64::MAX)?;
        let rows = character.palette().len() as u64 * u64::from(palettes::entry_rows(format));
        Ok(geometry.words.len() as u64 * 4 + rows * palettes::ROW_BYTES)
    }

    /// The images that [`Self::new`] creates on a device with these features. Needs no device.
    ///
    /// They are those that materials use, sorted by index. Not included is the white texel for
    /// materials without textures, and that a device leaves out levels that are too large for it.
    ///
    /// ```
    /// use throng::gpu::{Features, SkinnedMesh};
    ///
    /// let character = throng::builtin::mannequin()?.character;
    /// assert!(SkinnedMesh::image_figures(&character, Features::REQUIRED).is_empty());
    /// # Ok::<(), throng::Error>(())
    /// ```
    #[must_use]
    pub fn image_figures(character: &Character, features: Features) -> Vec<ImageFigures> {
        textures::image_figures(character, features)
    }

    /// The bytes of the images that [`Self::new`] asks the allocator for on a device with these
    /// features. Needs no device.
    ///
    /// It is the sum of [`Self::image_figures`], and 4 for the white texel of materials without
    /// textures. Padding that the device adds is not included.
    ///
    /// ```
    /// use throng::gpu::{Features, SkinnedMesh};
    ///
    /// let character = throng::builtin::mannequin()?.character;
    /// assert_eq!(SkinnedMesh::image_bytes(&character, Features::REQUIRED), 4);
    /// # Ok::<(), throng::Error>(())
    /// ```
    #[must_use]
    pub fn image_bytes(character: &Character, features: Features) -> u64 {
        let images = Self::image_figures(character, features);
        4 + images.iter().map(|image| image.bytes).sum::<u64>()
    }
}
