//! Decoded images, as texels or run-length encoded.

use super::texel_runs::TexelRuns;
use std::borrow::Cow;

/// A decoded image: 8-bit RGBA, rows from the top, tightly packed.
///
/// The images of a [saved character](crate::character#saved-characters) are run-length encoded,
/// without loss. Loading copies the encoded bytes, and never decodes them to texels. That happens
/// when [`Self::rgba`] is called or the image is uploaded. A server needs no images:
/// [`ImportOptions::images`](crate::import::ImportOptions::images) leaves them out before the
/// character is saved.
///
/// ```
/// use throng::mesh::Image;
///
/// let red = [255, 0, 0, 255];
/// let image = Image::new("red", 2, 3, red.repeat(6));
/// assert_eq!(image.rgba()[..4], red);
/// ```
#[derive(Debug, Clone)]
pub struct Image {
    /// The name in the file, or empty.
    pub name: Box<str>,
    /// In texels, at least 1.
    pub width: u32,
    /// In texels, at least 1.
    pub height: u32,
    /// The texels, or empty if `runs` is set.
    rgba: Vec<u8>,
    /// The encoded texels. If set, they replace `rgba`.
    runs: Option<TexelRuns>,
}

impl Image {
    /// Creates an image of `width` by `height` texels.
    ///
    /// `rgba` has `width * height * 4` bytes. Colour is sRGB encoded, alpha is linear and not
    /// premultiplied. Nothing is checked here: building a character refuses an image without texels
    /// and one whose `rgba` has a different length.
    #[must_use]
    pub fn new(name: &str, width: u32, height: u32, rgba: Vec<u8>) -> Self {
        Self {
            name: name.into(),
            width,
            height,
            rgba,
            runs: None,
        }
    }

    /// An image whose texels stay encoded. There must be `width * height` of them.
    pub(crate) const fn of_runs(
        name: Box<str>,
        [width, height]: [u32; 2],
        runs: TexelRuns,
    ) -> Self {
        Self {
            name,
            width,
            height,
            rgba: Vec::new(),
            runs: Some(runs),
        }
    }

    /// The texels: `width * height * 4` bytes. Colour is sRGB encoded, alpha is linear and not
    /// premultiplied.
    ///
    /// For the image of a saved character, each call decodes all texels.
    #[must_use]
    pub fn rgba(&self) -> Cow<'_, [u8]> {
        match &self.runs {
            None => Cow::Borrowed(&self.rgba),
            Some(runs) => Cow::Owned(runs.expand()),
        }
    }

    /// The texels, to change them.
    ///
    /// For the image of a saved character, the first call decodes all texels.
    pub fn rgba_mut(&mut self) -> &mut Vec<u8> {
        if let Some(runs) = self.runs.take() {
            self.rgba = runs.expand();
        }
        &mut self.rgba
    }

    /// The texels, run-length encoded.
    pub(crate) fn runs(&self) -> Cow<'_, TexelRuns> {
        match &self.runs {
            None => Cow::Owned(TexelRuns::of(&self.rgba)),
            Some(runs) => Cow::Borrowed(runs),
        }
    }

    /// The number of bytes of [`Self::rgba`].
    pub(crate) fn rgba_bytes(&self) -> u64 {
        match &self.runs {
            None => self.rgba.len() as u64,
            Some(runs) => runs.texels() * 4,
        }
    }
}

/// Images are equal if their names, sizes and texels are, encoded or not.
impl PartialEq for Image {
    fn eq(&self, other: &Self) -> bool {
        let same_runs = self.runs.is_some() && self.runs == other.runs;
        self.name == other.name
            && [self.width, self.height] == [other.width, other.height]
            && (same_runs || self.rgba() == other.rgba())
    }
}

impl Eq for Image {}
