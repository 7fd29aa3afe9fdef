//! The device memory of a character, computed without a device.

use super::encode::Geometry;
use super::textures::IS_COLOR;
use super::{SkinnedMesh, palettes};
use crate::character::Character;
use crate::error::Result;
use crate::mesh::Image;
use crate::palette::{PaletteFormat, SkinningMethod};
use std::collections::BTreeSet;

/// The bytes that [`SkinnedMesh::new`] asks the allocator for.
///
/// Padding that the device adds for alignment is not included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MeshBytes {
    /// Primitives, materials, vertex streams, morph targets and indices.
    pub mesh: u64,
    /// The palette of the rest pose.
    pub rest_palette: u64,
    /// Images with their mip levels. An image counts twice if one material uses it as a colour and
    /// another one as numbers.
    pub images: u64,
}

impl MeshBytes {
    /// The sum of all parts.
    #[must_use]
    pub const fn total(self) -> u64 {
        self.mesh + self.rest_palette + self.images
    }
}

impl SkinnedMesh {
    /// The device memory that [`Self::new`] asks for. Needs no device.
    ///
    /// ```
    /// use throng::gpu::SkinnedMesh;
    /// use throng::palette::SkinningMethod;
    ///
    /// let character = throng::builtin::mannequin()?.character;
    /// let bytes = SkinnedMesh::bytes(&character, SkinningMethod::Linear)?;
    /// println!("{} bytes", bytes.total());
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::Unrepresentable`](crate::Error::Unrepresentable) as [`Self::new`].
    /// - [`Error::Capacity`](crate::Error::Capacity) if the mesh has 2³² words or more.
    pub fn bytes(character: &Character, method: SkinningMethod) -> Result<MeshBytes> {
        let format = PaletteFormat::of(character, method)?;
        let geometry = Geometry::new(character, format, u64::MAX)?;
        let rows = character.palette().len() as u64 * u64::from(palettes::entry_rows(format));
        let mut used = BTreeSet::new();
        for material in character.materials() {
            for (texture, is_color) in material.textures().into_iter().zip(IS_COLOR) {
                used.extend(texture.map(|texture| (texture.image, is_color)));
            }
        }
        let image = |(index, _): &(u32, bool)| character.images().get(*index as usize);
        // The white texel, for materials without textures.
        let white = 4;
        Ok(MeshBytes {
            mesh: geometry.words.len() as u64 * 4,
            rest_palette: rows * palettes::ROW_BYTES,
            images: white + used.iter().filter_map(image).map(mip_bytes).sum::<u64>(),
        })
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
