//! Images compressed to BC7, and to BC5 for normals, or to ASTC, with all mip levels.

use crate::failure::Failure;
use crate::words::{grouped, title};
use block_compression::encode::compress_rgba8;
use block_compression::{BC7Settings, CompressionVariant};
use clap::ValueEnum;
use serde_json::{Value, json};
use std::io::Write;
use std::thread;
use throng::character::Character;
use throng::mesh::{Image, ImageFormat, ImageLevel};

/// The images of a saved character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Textures {
    /// As in the file: RGBA8 without loss, or the file's own compression.
    Keep,
    /// BC7, and BC5 for normals, with all mip levels. A quarter of the memory on a device.
    Bc7,
    /// ASTC with blocks of 4x4 texels, which mobile devices have, with all mip levels. Programs
    /// that were built with the feature `astc` can do this.
    Astc,
}

/// An image that was compressed.
pub(crate) struct Compressed {
    index: usize,
    format: ImageFormat,
    bytes: u64,
    /// The root mean square of the differences of all texels and kept channels, of 255.
    rms: f64,
}

/// The uses of an image.
#[derive(Debug, Clone, Copy, Default)]
struct Uses {
    color: bool,
    normals: bool,
    others: bool,
}

/// Rows of texels that a thread compresses at once.
const BAND: usize = 64;
/// Bytes of a block of each format.
const BLOCK_BYTES: usize = 16;

impl Textures {
    /// Fails if this program cannot compress images like this.
    pub(crate) fn expect_encoder(self) -> Result<(), Failure> {
        match self {
            Self::Astc => astc(&mut [0; 64], &mut [0; BLOCK_BYTES], [4, 4], true),
            Self::Keep | Self::Bc7 => Ok(()),
        }
    }
}

/// Compresses the images that are not compressed yet.
pub(crate) fn compress(
    character: Character,
    to: Textures,
) -> Result<(Character, Vec<Compressed>), Failure> {
    if to == Textures::Keep {
        return Ok((character, Vec::new()));
    }
    let mut uses = vec![Uses::default(); character.images().len()];
    for material in character.materials() {
        for (slot, texture) in material.textures().into_iter().enumerate() {
            let Some(texture) = texture else {
                continue;
            };
            let of = &mut uses[texture.image as usize];
            match slot {
                0 | 4 => of.color = true,
                2 => of.normals = true,
                _ => of.others = true,
            }
        }
    }
    let mut done = Vec::new();
    let mut images = Vec::with_capacity(uses.len());
    for ((index, image), uses) in character.images().iter().enumerate().zip(uses) {
        if image.format() != ImageFormat::Rgba8 {
            images.push(image.clone());
            continue;
        }
        let (made, rms) = compressed(image, uses, to)?;
        done.push(Compressed {
            index,
            format: made.format(),
            bytes: device_bytes(&made),
            rms,
        });
        images.push(made);
    }
    Ok((character.with_images(images)?, done))
}

/// Bytes of all mip levels on a device that has the format.
pub(crate) fn device_bytes(image: &Image) -> u64 {
    let (width, height) = (image.width, image.height);
    image.format().bytes(width, height, image.level_count())
}

/// The image and its error.
fn compressed(image: &Image, uses: Uses, to: Textures) -> Result<(Image, f64), Failure> {
    let are_normals = uses.normals && !uses.color && !uses.others;
    let all = match image.levels().next() {
        Some(_) => image.clone(),
        None => image.with_mips(uses.color)?,
    };
    let is_opaque = image
        .rgba()?
        .as_chunks::<4>()
        .0
        .iter()
        .all(|[.., a]| *a == u8::MAX);
    let (format, encoder) = match (to, are_normals, is_opaque) {
        (Textures::Astc, ..) => (ImageFormat::Astc4x4, Encoder::Astc(uses.color)),
        (_, true, _) => (ImageFormat::Bc5, Encoder::Bc(CompressionVariant::BC5)),
        (_, _, opaque) => {
            let settings = match opaque {
                true => BC7Settings::opaque_basic(),
                false => BC7Settings::alpha_basic(),
            };
            (
                ImageFormat::Bc7,
                Encoder::Bc(CompressionVariant::BC7(settings)),
            )
        }
    };
    let mut bytes = Vec::new();
    for level in all.levels() {
        bytes.extend(blocks(&level, are_normals, encoder)?);
    }
    let size = [image.width, image.height];
    let made = Image::with_levels(&image.name, format, size, all.level_count(), bytes);
    let channels = if format == ImageFormat::Bc5 { 2 } else { 4 };
    let (before, after) = (image.rgba()?, made.rgba()?);
    let texels = before
        .as_chunks::<4>()
        .0
        .iter()
        .zip(after.as_chunks::<4>().0);
    let differences = texels.flat_map(|(a, b)| a.iter().zip(b).take(channels));
    let squares: f64 = differences
        .map(|(a, b)| f64::from(a.abs_diff(*b)).powi(2))
        .sum();
    let count = f64::from(size[0]) * f64::from(size[1]) * channels as f64;
    Ok((made, (squares / count).sqrt()))
}

/// The encoder of an image.
#[derive(Clone, Copy)]
enum Encoder {
    Bc(CompressionVariant),
    /// The flag is true for colours in sRGB.
    Astc(bool),
}

impl Encoder {
    /// Writes the blocks of texels. The size is a multiple of 4.
    fn encode(
        self,
        from: &mut [u8],
        to: &mut [u8],
        [width, height]: [u32; 2],
    ) -> Result<(), Failure> {
        match self {
            Self::Bc(variant) => compress_rgba8(variant, from, to, width, height, width * 4),
            Self::Astc(is_srgb) => astc(from, to, [width, height], is_srgb)?,
        }
        Ok(())
    }
}

#[cfg(not(feature = "astc"))]
fn astc(_: &mut [u8], _: &mut [u8], _: [u32; 2], _: bool) -> Result<(), Failure> {
    let why = "this program was built without the feature astc, which --textures astc needs";
    Err(Failure::Usage(why.to_owned()))
}

#[cfg(feature = "astc")]
fn astc(from: &mut [u8], to: &mut [u8], size: [u32; 2], is_srgb: bool) -> Result<(), Failure> {
    use ctt_astcenc::bindings::{astcenc_image, astcenc_type_ASTCENC_TYPE_U8};
    use ctt_astcenc::{Context, Flags, Preset, Profile, Swizzle, config_init};
    let profile = match is_srgb {
        true => Profile::LdrSrgb,
        false => Profile::Ldr,
    };
    let failed = |why: ctt_astcenc::Error| Failure::File(format!("an image: {why}"));
    let config = config_init(profile, 4, 4, 1, Preset::Medium, Flags::empty()).map_err(failed)?;
    let mut slice = from.as_mut_ptr().cast();
    let mut image = astcenc_image {
        dim_x: size[0],
        dim_y: size[1],
        dim_z: 1,
        data_type: astcenc_type_ASTCENC_TYPE_U8,
        data: &raw mut slice,
    };
    let mut context = Context::new(&config).map_err(failed)?;
    context
        .compress(&mut image, Swizzle::IDENTITY, to)
        .map_err(failed)
}

/// The blocks of a level.
fn blocks(level: &ImageLevel<'_>, are_normals: bool, encoder: Encoder) -> Result<Vec<u8>, Failure> {
    let [width, height] = [level.width, level.height].map(|size| size as usize);
    let [across, down] = [width, height].map(|size| size.next_multiple_of(4));
    let texels = level.bytes.as_chunks::<4>().0;
    // Blocks over the edge repeat the last texel.
    let mut padded = Vec::with_capacity(across * down * 4);
    for y in 0..down {
        let row = &texels[y.min(height - 1) * width..][..width];
        for x in 0..across {
            let texel = row[x.min(width - 1)];
            padded.extend(if are_normals { unit(texel) } else { texel });
        }
    }
    let mut blocks = vec![0; across / 4 * (down / 4) * BLOCK_BYTES];
    let from = padded.chunks_mut(BAND * across * 4);
    let to = blocks.chunks_mut(BAND / 4 * (across / 4) * BLOCK_BYTES);
    let mut bands: Vec<_> = from.zip(to).collect();
    let threads = thread::available_parallelism().map_or(1, |count| count.get());
    let each = bands.len().div_ceil(threads).max(1);
    let encode = |bands: &mut [(&mut [u8], &mut [u8])]| {
        bands.iter_mut().try_for_each(|(from, to)| {
            let rows = from.len() / (across * 4);
            encoder.encode(from, to, [across as u32, rows as u32])
        })
    };
    thread::scope(|scope| {
        let shares = bands.chunks_mut(each);
        let threads: Vec<_> = shares
            .map(|share| scope.spawn(move || encode(share)))
            .collect();
        threads.into_iter().try_for_each(|thread| {
            thread
                .join()
                .unwrap_or_else(|why| std::panic::resume_unwind(why))
        })
    })?;
    Ok(blocks)
}

/// A normal as one of length 1, because its third coordinate is computed from the others.
fn unit(texel: [u8; 4]) -> [u8; 4] {
    let [x, y, z] = [0, 1, 2].map(|at: usize| f32::from(texel[at]) / 127.5 - 1.0);
    let length = (x * x + y * y + z * z).sqrt();
    if length < 0.1 {
        return texel;
    }
    let byte = |value: f32| ((value / length + 1.0) * 127.5).round() as u8;
    [byte(x), byte(y), byte(z), texel[3]]
}

pub(crate) fn list(character: &Character, all: &[Compressed]) -> Vec<Value> {
    let one = |one: &Compressed| {
        json!({
            "image": one.index,
            "name": character.images()[one.index].name,
            "format": one.format.name(),
            "bytes": one.bytes,
            "rms": one.rms,
        })
    };
    all.iter().map(one).collect()
}

pub(crate) fn tell(
    character: &Character,
    all: &[Compressed],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    for one in all {
        writeln!(
            out,
            "  image {} {}: {}, {} bytes, differs by {:.2} of 255 (RMS)",
            one.index,
            title(&character.images()[one.index].name),
            one.format.name(),
            grouped(one.bytes),
            one.rms
        )?;
    }
    Ok(())
}
