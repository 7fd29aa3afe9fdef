//! Images: as texels, run-length encoded, or with stored mip levels, which may be compressed.

use super::image_format::{ImageFormat, ImageLevel, all_levels, mip};
use super::mips;
use crate::error::{AssetFault, Result};
use std::borrow::Cow;
use std::iter::repeat_n;

/// An image: RGBA8 texels, or mip levels in any [`ImageFormat`].
///
/// Colour is sRGB encoded, alpha is linear and not premultiplied. Rows run from the top. A use
/// decides whether the texels are colours, so no format says it.
///
/// An image without stored levels gets all of them when it is uploaded. One with stored levels is
/// uploaded with these and no others.
///
/// RGBA8 images of a [saved character](crate::character#saved-characters) without stored levels are
/// run-length encoded, without loss. Loading copies the encoded bytes, and never decodes them to
/// texels. That happens when [`Self::rgba`] is called or the image is uploaded. A server needs no
/// images: [`ImportOptions::images`](crate::import::ImportOptions::images) leaves them out before
/// the character is saved.
///
/// ```
/// use throng::mesh::Image;
///
/// let red = [255, 0, 0, 255];
/// let image = Image::new("red", 2, 3, red.repeat(6));
/// assert_eq!(image.rgba()?[..4], red);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Image {
    /// The name in the file, or empty.
    pub name: Box<str>,
    /// In texels, at least 1.
    pub width: u32,
    /// In texels, at least 1.
    pub height: u32,
    texels: Texels,
}

#[derive(Debug, Clone)]
enum Texels {
    Rgba(Vec<u8>),
    Runs(TexelRuns),
    Levels {
        format: ImageFormat,
        levels: u32,
        bytes: Vec<u8>,
    },
}

impl Image {
    /// Creates an RGBA8 image of `width` by `height` texels.
    ///
    /// `rgba` has `width * height * 4` bytes. Nothing is checked here: building a character refuses
    /// an image without texels and one whose `rgba` has a different length.
    #[must_use]
    pub fn new(name: &str, width: u32, height: u32, rgba: Vec<u8>) -> Self {
        Self::of(name.into(), [width, height], Texels::Rgba(rgba))
    }

    /// Creates an image with stored mip levels.
    ///
    /// `bytes` has [`ImageFormat::bytes`] bytes: the levels one after another, from the finest.
    /// Each has half the width and height of the one before, rounded down, and at least 1. Fewer
    /// levels than down to one texel are fine: the coarsest is then sampled from afar.
    ///
    /// Nothing is checked here: building a character refuses an image without texels or levels,
    /// with more levels than down to one texel, and one whose `bytes` has a different length.
    ///
    /// ```
    /// use throng::mesh::{Image, ImageFormat};
    ///
    /// // Two blocks of red, and one for the level of 4 by 2 texels.
    /// let red = [0, 0xF8, 0, 0xF8, 0, 0, 0, 0];
    /// let image = Image::with_levels("red", ImageFormat::Bc1, [8, 4], 2, red.repeat(3));
    /// assert_eq!(image.levels().count(), 2);
    /// ```
    #[must_use]
    pub fn with_levels(
        name: &str,
        format: ImageFormat,
        size: [u32; 2],
        levels: u32,
        bytes: Vec<u8>,
    ) -> Self {
        let texels = Texels::Levels {
            format,
            levels,
            bytes,
        };
        Self::of(name.into(), size, texels)
    }

    const fn of(name: Box<str>, [width, height]: [u32; 2], texels: Texels) -> Self {
        Self {
            name,
            width,
            height,
            texels,
        }
    }

    /// An image whose texels stay encoded. There must be `width * height` of them.
    pub(crate) const fn of_runs(name: Box<str>, size: [u32; 2], runs: TexelRuns) -> Self {
        Self::of(name, size, Texels::Runs(runs))
    }

    /// The format of the texels.
    #[must_use]
    pub const fn format(&self) -> ImageFormat {
        match &self.texels {
            Texels::Levels { format, .. } => *format,
            _ => ImageFormat::Rgba8,
        }
    }

    /// The stored mip levels, from the finest. None if they are made when the image is uploaded.
    pub fn levels(&self) -> impl Iterator<Item = ImageLevel<'_>> {
        let (format, levels, mut rest) = match &self.texels {
            Texels::Levels {
                format,
                levels,
                bytes,
            } => (*format, *levels, &bytes[..]),
            _ => (ImageFormat::Rgba8, 0, &[][..]),
        };
        (0..levels).map_while(move |level| {
            let (width, height) = (mip(self.width, level), mip(self.height, level));
            let need = usize::try_from(format.level_bytes(width, height)).ok()?;
            let bytes = rest.split_off(..need)?;
            Some(ImageLevel {
                width,
                height,
                bytes,
            })
        })
    }

    /// The stored levels and their bytes, which are none if they are made at upload.
    pub(crate) fn stored(&self) -> (u32, &[u8]) {
        match &self.texels {
            Texels::Levels { levels, bytes, .. } => (*levels, bytes),
            _ => (0, &[]),
        }
    }

    /// The texels of the finest level: `width * height * 4` bytes. Colour is sRGB encoded, alpha is
    /// linear and not premultiplied.
    ///
    /// For the image of a saved character, and for a compressed one, each call decodes all texels.
    /// Channels that a format lacks are 0, and alpha is 255.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) for a compressed image, if throng was built
    /// without the Cargo feature `decode`.
    pub fn rgba(&self) -> Result<Cow<'_, [u8]>> {
        Ok(match &self.texels {
            Texels::Rgba(rgba) => Cow::Borrowed(rgba),
            Texels::Runs(runs) => Cow::Owned(runs.expand()),
            Texels::Levels { format, .. } => match self.levels().next() {
                None => Cow::Borrowed(&[]),
                Some(level) if *format == ImageFormat::Rgba8 => Cow::Borrowed(level.bytes),
                Some(level) => Cow::Owned(decode(*format, &level)?),
            },
        })
    }

    /// The image as RGBA8, with the same stored levels.
    ///
    /// # Errors
    /// As [`Self::rgba`].
    pub fn decoded(&self) -> Result<Cow<'_, Self>> {
        if self.format() == ImageFormat::Rgba8 {
            return Ok(Cow::Borrowed(self));
        }
        let levels = self.levels().map(|level| decode(self.format(), &level));
        let levels = levels.collect::<Result<Vec<_>>>()?;
        let (count, bytes) = (levels.len() as u32, levels.concat());
        let size = [self.width, self.height];
        let made = Self::with_levels(&self.name, ImageFormat::Rgba8, size, count, bytes);
        Ok(Cow::Owned(made))
    }

    /// The image as RGBA8 with all mip levels, down to one texel.
    ///
    /// Each level halves the one before, averaging in linear light: `srgb` says whether the texels
    /// are colours. These are the levels that an upload makes. Stored levels are replaced.
    ///
    /// # Errors
    /// As [`Self::rgba`].
    pub fn with_mips(&self, srgb: bool) -> Result<Self> {
        let size = [self.width, self.height];
        let (levels, bytes) = mips::chain(size, &self.rgba()?, srgb);
        Ok(Self::with_levels(
            &self.name,
            ImageFormat::Rgba8,
            size,
            levels,
            bytes,
        ))
    }

    /// The texels, run-length encoded.
    pub(crate) fn runs(&self) -> Cow<'_, TexelRuns> {
        match &self.texels {
            Texels::Rgba(rgba) => Cow::Owned(TexelRuns::of(rgba)),
            Texels::Runs(runs) => Cow::Borrowed(runs),
            Texels::Levels { .. } => Cow::Owned(TexelRuns::of(&[])),
        }
    }

    /// True if both have the same texels, whatever their names.
    pub(crate) fn same_texels(&self, other: &Self) -> bool {
        let texels = match (&self.texels, &other.texels) {
            (Texels::Levels { format, .. }, Texels::Levels { .. }) => {
                *format == other.format() && self.stored() == other.stored()
            }
            (Texels::Levels { .. }, _) | (_, Texels::Levels { .. }) => false,
            (Texels::Runs(own), Texels::Runs(others)) if own == others => true,
            _ => self.rgba() == other.rgba(),
        };
        [self.width, self.height] == [other.width, other.height] && texels
    }

    /// The number of mip levels on a device: those stored, or all down to one texel.
    #[must_use]
    pub const fn level_count(&self) -> u32 {
        match self.texels {
            Texels::Levels { levels, .. } => levels,
            _ => all_levels(self.width, self.height),
        }
    }

    /// Checks the size, the number of levels and their bytes.
    pub(crate) fn check(&self) -> core::result::Result<(), AssetFault> {
        let (width, height) = (self.width, self.height);
        if width.min(height) == 0 {
            return Err(AssetFault::Invalid("has no texels"));
        }
        let (got, need) = match &self.texels {
            Texels::Rgba(rgba) => (rgba.len() as u64, self.format().bytes(width, height, 1)),
            Texels::Runs(runs) => (runs.texels() * 4, self.format().bytes(width, height, 1)),
            Texels::Levels {
                format,
                levels,
                bytes,
            } => {
                let (what, asked) = ("mip levels", u64::from(*levels));
                let cap = all_levels(width, height).into();
                if asked == 0 {
                    return Err(AssetFault::Invalid("has no mip levels"));
                }
                if asked > cap {
                    return Err(AssetFault::Cap { what, asked, cap });
                }
                (bytes.len() as u64, format.bytes(width, height, *levels))
            }
        };
        let what = "the pixel data in bytes";
        match got == need {
            true => Ok(()),
            false => Err(AssetFault::Count { what, got, need }),
        }
    }
}

/// Images are equal if their names, sizes, formats, stored levels and texels are, encoded or not.
impl PartialEq for Image {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.same_texels(other)
    }
}

impl Eq for Image {}

/// The texels of a level as RGBA8.
#[cfg(feature = "decode")]
fn decode(format: ImageFormat, level: &ImageLevel<'_>) -> Result<Vec<u8>> {
    Ok(super::decode::decode(format, level))
}

#[cfg(not(feature = "decode"))]
fn decode(_: ImageFormat, _: &ImageLevel<'_>) -> Result<Vec<u8>> {
    Err(crate::error::Error::Argument {
        what: "a compressed image",
        why: crate::error::ArgumentFault::Invalid(
            "cannot be decoded without the Cargo feature `decode` of throng",
        ),
    })
}

/// The least number of repeats that ends a run.
///
/// Fewer equal texels are stored as literals, because copying them is faster than starting a new
/// run.
const WORTHWHILE: usize = 16;
/// The most literals of a run, and the most repeats: each number has one byte.
const MOST: usize = u8::MAX as usize;

/// The texels of an image, without loss.
///
/// Each run has 1 to 255 literals, which are texels stored as they are, and 0 to 255 repeats of the
/// last literal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TexelRuns {
    /// The number of literals in the low byte, of repeats in the high byte.
    runs: Vec<u16>,
    /// The literals of all runs, four bytes each.
    own: Vec<u8>,
}

/// The numbers of literals (`own`) and repeats (`repeated`) of all runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunLengths {
    pub(crate) own: u64,
    pub(crate) repeated: u64,
    /// True if each run has a literal.
    pub(crate) is_valid: bool,
}

impl RunLengths {
    pub(crate) fn of(runs: &[u16]) -> Self {
        let [mut own, mut repeated] = [0_u64; 2];
        let mut is_valid = true;
        for run in runs {
            let [texels, repeats] = run.to_le_bytes();
            own += u64::from(texels);
            repeated += u64::from(repeats);
            is_valid &= texels > 0;
        }
        Self {
            own,
            repeated,
            is_valid,
        }
    }
}

impl TexelRuns {
    /// Encodes RGBA texels as runs.
    pub(crate) fn of(rgba: &[u8]) -> Self {
        let (mut runs, mut all) = (Vec::new(), Vec::new());
        let mut rest = rgba.as_chunks::<4>().0;
        while !rest.is_empty() {
            let mut own = 0;
            let repeats = loop {
                own += 1;
                let after = rest[own..].iter().take(MOST);
                let repeats = after.take_while(|texel| **texel == rest[own - 1]).count();
                if repeats >= WORTHWHILE || own == MOST || own == rest.len() {
                    break repeats;
                }
            };
            runs.push(u16::from_le_bytes([own as u8, repeats as u8]));
            all.extend_from_slice(rest[..own].as_flattened());
            rest = &rest[own + repeats..];
        }
        Self { runs, own: all }
    }

    /// Puts runs and their literals together. Their [`RunLengths`] must be valid and agree.
    pub(crate) fn of_parts(runs: Vec<u16>, own: Vec<u8>) -> Self {
        debug_assert_eq!(
            RunLengths::of(&runs),
            RunLengths {
                own: own.len() as u64 / 4,
                is_valid: true,
                ..RunLengths::of(&runs)
            }
        );
        Self { runs, own }
    }

    pub(crate) fn runs(&self) -> &[u16] {
        &self.runs
    }

    pub(crate) fn own(&self) -> &[u8] {
        &self.own
    }

    pub(crate) fn texels(&self) -> u64 {
        let lengths = RunLengths::of(&self.runs);
        lengths.own + lengths.repeated
    }

    /// All texels as RGBA.
    pub(crate) fn expand(&self) -> Vec<u8> {
        let mut rest = self.own.as_chunks::<4>().0;
        let mut texels: Vec<[u8; 4]> = Vec::with_capacity(self.texels() as usize);
        for run in &self.runs {
            let [own, repeats] = run.to_le_bytes();
            let (own, others) = rest.split_at(usize::from(own).min(rest.len()));
            rest = others;
            texels.extend_from_slice(own);
            if let Some(last) = own.last() {
                texels.extend(repeat_n(*last, usize::from(repeats)));
            }
        }
        texels.into_flattened()
    }
}
