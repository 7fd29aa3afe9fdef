//! KTX2: images with mip levels in block-compressed formats, and those of Basis Universal, which
//! are transcoded.
//!
//! All offsets and lengths are checked here, before anything is allocated or a decoder runs.

use super::fault::image_failed;
use crate::budget::Budget;
use basisu::{DecodeFlags, TargetFormat, Transcoder};
use ruzstd::decoding::FrameDecoder;
use std::borrow::Cow;
use std::ops::Range;
use throng::error::{Object, Result};
use throng::import::TextureTarget;
use throng::mesh::{Image, ImageFormat};

pub(super) const SIGNATURE: [u8; 12] = *b"\xABKTX 20\xBB\r\n\x1A\n";
/// Bytes before the list of levels.
const HEADER_BYTES: usize = 80;
/// Bytes of an entry of the list of levels.
const LEVEL_BYTES: usize = 24;
/// Colour models of the data format descriptor.
const ETC1S: u8 = 163;
const UASTC: u8 = 166;
/// Schemes of supercompression.
const NONE: u32 = 0;
const BASIS_LZ: u32 = 1;
const ZSTANDARD: u32 = 2;
/// The window that every decoder of Zstandard must allow, in bytes.
const WINDOW_BYTES: u64 = 8 << 20;

/// The parts of a file that are read. All ranges are inside of it.
struct File<'a> {
    bytes: &'a [u8],
    format: u32,
    size: [u32; 2],
    scheme: u32,
    descriptor: Range<usize>,
    /// The data of each level, and its bytes without supercompression.
    levels: Vec<(&'a [u8], u64)>,
}

/// The meaning of a level's bytes.
#[derive(Clone, Copy, PartialEq)]
enum Source {
    /// Texels of a format that is kept.
    Kept(ImageFormat),
    /// Red, green and blue, 8 bits each.
    Rgb,
    /// ETC1S, whose levels have no fixed size.
    Etc1s,
    /// UASTC, or ASTC with blocks of this size.
    Blocks([u32; 2]),
}

/// Reads a KTX2 file with one two-dimensional image.
pub(super) fn decode(
    bytes: &[u8],
    name: &str,
    budget: &mut Budget<'_>,
    object: &Object,
) -> Result<Image> {
    let failed = |why: &str| image_failed(object, why);
    let file = File::read(bytes).map_err(failed)?;
    let target = budget.options.textures;
    let source = file.source(target).ok_or_else(|| {
        failed(&format!(
            "the format {} of its KTX2 is not supported",
            file.format
        ))
    })?;
    // With all levels, the bytes of a level as read and as kept, 4 of a texel each at most.
    budget.image(file.size, 8, bytes.len(), object)?;
    let expected = match source {
        Source::Etc1s => BASIS_LZ,
        _ if file.scheme == ZSTANDARD => ZSTANDARD,
        _ => NONE,
    };
    if file.scheme != expected {
        return Err(failed(&format!(
            "its supercompression {} is not supported",
            file.scheme
        )));
    }
    if source == Source::Etc1s {
        return transcode(bytes, name, &file, target).map_err(failed);
    }
    let levels = (0..).zip(&file.levels).map(|(level, (data, stated))| {
        let size = file.size.map(|size| (size >> level).max(1));
        let need = source.level_bytes(size);
        if *stated != need {
            let what = format!("level {level} has {stated} bytes, its size needs {need}");
            return Err(what);
        }
        match file.scheme {
            ZSTANDARD => inflate(data, need).map_err(|why| format!("level {level}: {why}")),
            _ => Ok(Cow::Borrowed(*data)),
        }
    });
    let levels = levels.collect::<core::result::Result<Vec<_>, String>>();
    let levels = levels.map_err(|why| failed(&why))?;
    match source {
        Source::Kept(format) => Ok(file.image(name, format, levels.concat())),
        Source::Rgb => {
            let rgb = levels.concat();
            let texels = rgb.as_chunks::<3>().0.iter();
            let rgba = texels.flat_map(|[r, g, b]| [*r, *g, *b, u8::MAX]).collect();
            Ok(file.image(name, ImageFormat::Rgba8, rgba))
        }
        Source::Etc1s | Source::Blocks(_) => {
            let bytes = match file.scheme {
                NONE => Cow::Borrowed(bytes),
                _ => Cow::Owned(file.without_supercompression(&levels)),
            };
            transcode(&bytes, name, &file, target).map_err(failed)
        }
    }
}

impl<'a> File<'a> {
    fn read(bytes: &'a [u8]) -> core::result::Result<Self, &'static str> {
        let header: &[u8; HEADER_BYTES] = bytes.first_chunk().ok_or("its KTX2 is truncated")?;
        let words: [u32; HEADER_BYTES / 4] =
            core::array::from_fn(|at| u32::from_le_bytes(header.as_chunks().0[at]));
        let [
            _,
            _,
            _,
            format,
            _,
            width,
            height,
            depth,
            layers,
            faces,
            levels,
            scheme,
            ..,
        ] = words;
        if width == 0 || height == 0 || depth != 0 || layers > 1 || faces != 1 {
            return Err("its KTX2 is not one two-dimensional image");
        }
        // None: to be made from the first.
        let count = levels.max(1);
        if count > u32::BITS - (width | height).leading_zeros() {
            return Err("its KTX2 has more mip levels than its size allows");
        }
        let within = |start: u64, length: u64| {
            let end = start.checked_add(length)?;
            (end <= bytes.len() as u64).then_some(start as usize..end as usize)
        };
        let within = |start, length| within(start, length).ok_or("its KTX2 is truncated");
        let long = |at: usize| u64::from(words[at]) | u64::from(words[at + 1]) << 32;
        let descriptor = within(words[12].into(), words[13].into())?;
        if descriptor.len() < 16 {
            return Err("its KTX2 has no data format descriptor");
        }
        // Key and value pairs, and the codebooks of ETC1S.
        within(words[14].into(), words[15].into())?;
        within(long(16), long(18))?;
        let list = within(HEADER_BYTES as u64, count as u64 * LEVEL_BYTES as u64)?;
        let entries = bytes[list].as_chunks::<LEVEL_BYTES>().0.iter();
        let levels = entries.map(|entry| {
            let [start, length, plain] =
                core::array::from_fn(|at| u64::from_le_bytes(entry.as_chunks().0[at]));
            let plain = if scheme == NONE { length } else { plain };
            Ok((&bytes[within(start, length)?], plain))
        });
        Ok(Self {
            bytes,
            format,
            size: [width, height],
            scheme,
            descriptor,
            levels: levels.collect::<core::result::Result<_, _>>()?,
        })
    }

    /// The format by its number in Vulkan, or without one by the descriptor's colour model.
    fn source(&self, target: TextureTarget) -> Option<Source> {
        let kept = match self.format {
            0 => {
                return match self.bytes[self.descriptor.start + 12] {
                    ETC1S => Some(Source::Etc1s),
                    UASTC => Some(Source::Blocks([4; 2])),
                    _ => None,
                };
            }
            23 | 29 => return Some(Source::Rgb),
            37 | 43 => ImageFormat::Rgba8,
            131 | 132 => ImageFormat::Bc1,
            133 | 134 => ImageFormat::Bc1Alpha,
            137 | 138 => ImageFormat::Bc3,
            139 => ImageFormat::Bc4,
            141 => ImageFormat::Bc5,
            145 | 146 => ImageFormat::Bc7,
            147 | 148 => ImageFormat::Etc2,
            151 | 152 => ImageFormat::Etc2Alpha,
            153 => ImageFormat::EacR,
            155 => ImageFormat::EacRg,
            157 | 158 if target == TextureTarget::Astc => ImageFormat::Astc4x4,
            format @ 157..=184 => {
                let blocks = basisu::AstcBlock::ALL.get((format as usize - 157) / 2)?;
                let (width, height) = blocks.dims();
                return Some(Source::Blocks([width, height]));
            }
            _ => return None,
        };
        Some(Source::Kept(kept))
    }

    /// The image of these levels. Those of RGBA8 are made later if the file has one.
    fn image(&self, name: &str, format: ImageFormat, bytes: Vec<u8>) -> Image {
        let [width, height] = self.size;
        match (format, self.levels.len()) {
            (ImageFormat::Rgba8, 1) => Image::new(name, width, height, bytes),
            (_, levels) => Image::with_levels(name, format, self.size, levels as u32, bytes),
        }
    }

    /// The same file, for the transcoder: with these bytes of the levels, and without key and value
    /// pairs.
    fn without_supercompression(&self, levels: &[Cow<'_, [u8]>]) -> Vec<u8> {
        let mut file = self.bytes[..HEADER_BYTES + LEVEL_BYTES * levels.len()].to_vec();
        let descriptor = file.len() as u32;
        file[44..48].fill(0);
        file[48..52].copy_from_slice(&descriptor.to_le_bytes());
        file[56..HEADER_BYTES].fill(0);
        file.extend_from_slice(&self.bytes[self.descriptor.clone()]);
        for (index, level) in levels.iter().enumerate() {
            let entry = [file.len(), level.len(), level.len()].map(|it| (it as u64).to_le_bytes());
            let at = HEADER_BYTES + LEVEL_BYTES * index;
            file[at..at + LEVEL_BYTES].copy_from_slice(entry.as_flattened());
            file.extend_from_slice(level);
        }
        file
    }
}

impl Source {
    /// Bytes of a level of this size.
    fn level_bytes(self, [width, height]: [u32; 2]) -> u64 {
        match self {
            Self::Kept(format) => format.level_bytes(width, height),
            Self::Rgb => u64::from(width) * u64::from(height) * 3,
            Self::Etc1s => 0,
            Self::Blocks([across, down]) => {
                u64::from(width.div_ceil(across)) * u64::from(height.div_ceil(down)) * 16
            }
        }
    }
}

/// Decompresses a level of Zstandard that has `need` bytes.
fn inflate(data: &[u8], need: u64) -> core::result::Result<Cow<'_, [u8]>, String> {
    let mut decoder = FrameDecoder::new();
    // The window is allocated at once.
    decoder.set_max_window_size(need.max(WINDOW_BYTES));
    // `charge` saw this number.
    let mut bytes = vec![0; need as usize];
    match decoder.decode_all(data, &mut bytes) {
        Ok(got) if got as u64 == need => Ok(Cow::Owned(bytes)),
        Ok(got) => Err(format!("{got} bytes are compressed, its size needs {need}")),
        Err(error) => Err(error.to_string()),
    }
}

/// Transcodes all levels of ETC1S, UASTC or ASTC.
fn transcode(
    bytes: &[u8],
    name: &str,
    file: &File<'_>,
    target: TextureTarget,
) -> core::result::Result<Image, &'static str> {
    let why = "its Basis Universal data is invalid";
    let transcoder = Transcoder::new(bytes).map_err(|_| why)?;
    let (mut format, mut to) = match (target, transcoder.has_alpha()) {
        (TextureTarget::Astc, _) => (ImageFormat::Astc4x4, TargetFormat::Astc4x4Rgba),
        (TextureTarget::Etc2, true) => (ImageFormat::Etc2Alpha, TargetFormat::Etc2Rgba),
        (TextureTarget::Etc2, false) => (ImageFormat::Etc2, TargetFormat::Etc1Rgb),
        (TextureTarget::Rgba8, _) => (ImageFormat::Rgba8, TargetFormat::Rgba32),
        _ => (ImageFormat::Bc7, TargetFormat::Bc7Rgba),
    };
    // ASTC with other blocks than 4 by 4 does not become ASTC.
    if !transcoder.supports(to) {
        (format, to) = (ImageFormat::Rgba8, TargetFormat::Rgba32);
    }
    let levels = 0..file.levels.len() as u32;
    let levels = levels.map(|level| transcoder.transcode(level, to, DecodeFlags::NONE));
    let levels: Vec<_> = levels
        .collect::<core::result::Result<_, _>>()
        .map_err(|_| why)?;
    Ok(file.image(name, format, levels.concat()))
}
