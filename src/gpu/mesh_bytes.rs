//! The device memory of a character, computed without a device.

use super::encode::Geometry;
use super::textures::IS_COLOR;
use super::{SkinnedMesh, palettes};
use crate::character::Character;
use crate::error::Result;
use crate::mesh::Image;
use crate::order;
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
        let geometry = Geometry::new(character, format, u64::MAX)?;
        let rows = character.palette().len() as u64 * u64::from(palettes::entry_rows(format));
        Ok(geometry.words.len() as u64 * 4 + rows * palettes::ROW_BYTES)
    }

    /// The bytes of the images that [`Self::new`] asks the allocator for. Needs no device.
    ///
    /// Mip levels are included, and so is the white texel for materials without textures. An image
    /// counts twice if one material uses it as a colour and another one as numbers. Padding that
    /// the device adds is not included.
    ///
    /// ```
    /// use throng::gpu::SkinnedMesh;
    ///
    /// let character = throng::builtin::mannequin()?.character;
    /// assert_eq!(SkinnedMesh::image_bytes(&character), 4);
    /// # Ok::<(), throng::Error>(())
    /// ```
    #[must_use]
    pub fn image_bytes(character: &Character) -> u64 {
        let mut used = Vec::new();
        for material in character.materials() {
            for (texture, is_color) in material.textures().into_iter().zip(IS_COLOR) {
                used.extend(texture.map(|texture| (texture.image, is_color)));
            }
        }
        let used = order::sorted_set(used);
        let image = |(index, _): &(u32, bool)| character.images().get(*index as usize);
        let white = 4;
        white + used.iter().filter_map(image).map(mip_bytes).sum::<u64>()
    }
}

/// The bytes of an image with all of its mip levels.
fn mip_bytes(image: &Image) -> u64 {
    let (mut width, mut height) = (u64::from(image.width), u64::from(image.height));
    let mut bytes = width * height * 4;
    while width.max(height) > 1 {
        (width, height) = ((width / 2).max(1), (height / 2).max(1));
        bytes += width * height * 4;
    }
    bytes
}
