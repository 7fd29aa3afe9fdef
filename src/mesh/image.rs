//! Decoded images, as texels or run-length encoded.

use std::borrow::Cow;
use std::iter::repeat_n;

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

    /// The texels, run-length encoded.
    pub(crate) fn runs(&self) -> Cow<'_, TexelRuns> {
        match &self.runs {
            None => Cow::Owned(TexelRuns::of(&self.rgba)),
            Some(runs) => Cow::Borrowed(runs),
        }
    }

    /// True if both have the same texels, whatever their names.
    pub(crate) fn same_texels(&self, other: &Self) -> bool {
        let same_runs = self.runs.is_some() && self.runs == other.runs;
        [self.width, self.height] == [other.width, other.height]
            && (same_runs || self.rgba() == other.rgba())
    }

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
        self.name == other.name && self.same_texels(other)
    }
}

impl Eq for Image {}

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
