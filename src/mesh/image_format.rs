//! Formats of images, and the sizes of their mip levels.

/// The format of an image's texels.
///
/// Formats other than RGBA8 have blocks of 4 by 4 texels, which a GPU samples as they are if it has
/// the feature. Otherwise they are decoded to RGBA8 when they are uploaded.
///
/// ```
/// use throng::mesh::ImageFormat;
///
/// assert_eq!(ImageFormat::Bc7.level_bytes(10, 5), 3 * 2 * 16);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ImageFormat {
    /// Red, green, blue and alpha, 8 bits each. All devices have it.
    Rgba8,
    /// BC1 (DXT1) without alpha, 4 bits per texel. `textureCompressionBC`.
    Bc1,
    /// BC1 (DXT1) with holes: alpha is 0 or 1, 4 bits per texel. `textureCompressionBC`.
    Bc1Alpha,
    /// BC3 (DXT5): BC1 and smooth alpha, 8 bits per texel. `textureCompressionBC`.
    Bc3,
    /// BC4: red, 4 bits per texel. `textureCompressionBC`.
    Bc4,
    /// BC5: red and green, 8 bits per texel, for normals. `textureCompressionBC`.
    Bc5,
    /// BC7: RGBA of high quality, 8 bits per texel. `textureCompressionBC`.
    Bc7,
    /// ETC2 without alpha, 4 bits per texel; also holds ETC1. `textureCompressionETC2`.
    Etc2,
    /// ETC2 with smooth alpha, 8 bits per texel. `textureCompressionETC2`.
    Etc2Alpha,
    /// EAC: red, 4 bits per texel. `textureCompressionETC2`.
    EacR,
    /// EAC: red and green, 8 bits per texel, for normals. `textureCompressionETC2`.
    EacRg,
    /// ASTC with blocks of 4 by 4: RGBA, 8 bits per texel. `textureCompressionASTC_LDR`.
    Astc4x4,
}

impl ImageFormat {
    /// All formats.
    pub const ALL: [Self; 12] = [
        Self::Rgba8,
        Self::Bc1,
        Self::Bc1Alpha,
        Self::Bc3,
        Self::Bc4,
        Self::Bc5,
        Self::Bc7,
        Self::Etc2,
        Self::Etc2Alpha,
        Self::EacR,
        Self::EacRg,
        Self::Astc4x4,
    ];

    /// The name, as in `BC7`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rgba8 => "RGBA8",
            Self::Bc1 => "BC1",
            Self::Bc1Alpha => "BC1 with alpha",
            Self::Bc3 => "BC3",
            Self::Bc4 => "BC4",
            Self::Bc5 => "BC5",
            Self::Bc7 => "BC7",
            Self::Etc2 => "ETC2",
            Self::Etc2Alpha => "ETC2 with alpha",
            Self::EacR => "EAC R",
            Self::EacRg => "EAC RG",
            Self::Astc4x4 => "ASTC 4x4",
        }
    }

    /// Texels of a block in each direction: 1 or 4.
    #[must_use]
    pub const fn block_edge(self) -> u32 {
        match self {
            Self::Rgba8 => 1,
            _ => 4,
        }
    }

    /// Bytes of a block.
    #[must_use]
    pub const fn block_bytes(self) -> u64 {
        match self {
            Self::Rgba8 => 4,
            Self::Bc1 | Self::Bc1Alpha | Self::Bc4 | Self::Etc2 | Self::EacR => 8,
            _ => 16,
        }
    }

    /// Bytes of a level of `width` by `height` texels: whole blocks, row by row.
    #[must_use]
    pub const fn level_bytes(self, width: u32, height: u32) -> u64 {
        let edge = self.block_edge();
        let blocks = width.div_ceil(edge) as u64 * height.div_ceil(edge) as u64;
        blocks.saturating_mul(self.block_bytes())
    }

    /// Bytes of the first `levels` mip levels of an image of `width` by `height` texels.
    #[must_use]
    pub fn bytes(self, width: u32, height: u32, levels: u32) -> u64 {
        let level = |level| self.level_bytes(mip(width, level), mip(height, level));
        (0..levels.min(32)).fold(0, |sum: u64, at| sum.saturating_add(level(at)))
    }
}

/// The width or height of a mip level.
pub(super) const fn mip(size: u32, level: u32) -> u32 {
    match size >> level {
        0 => 1,
        size => size,
    }
}

/// The number of mip levels down to one texel.
pub(super) const fn all_levels(width: u32, height: u32) -> u32 {
    u32::BITS - (width | height).leading_zeros()
}

/// A mip level of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageLevel<'a> {
    /// In texels.
    pub width: u32,
    /// In texels.
    pub height: u32,
    /// Blocks of the image's format, row by row from the top, tightly packed.
    pub bytes: &'a [u8],
}
