//! Images compressed to BC7, and to BC5 for normals, with all mip levels.

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
/// Bytes of a block of BC5 and of BC7.
const BLOCK_BYTES: usize = 16;

/// Compresses the images that are not compressed yet.
pub(crate) fn compress(character: Character) -> Result<(Character, Vec<Compressed>), Failure> {
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
        let (made, rms) = compressed(image, uses)?;
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
fn compressed(image: &Image, uses: Uses) -> Result<(Image, f64), Failure> {
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
    let (format, variant) = match (are_normals, is_opaque) {
        (true, _) => (ImageFormat::Bc5, CompressionVariant::BC5),
        (_, true) => (
            ImageFormat::Bc7,
            CompressionVariant::BC7(BC7Settings::opaque_basic()),
        ),
        _ => (
            ImageFormat::Bc7,
            CompressionVariant::BC7(BC7Settings::alpha_basic()),
        ),
    };
    let mut bytes = Vec::new();
    for level in all.levels() {
        bytes.extend(blocks(&level, are_normals, variant));
    }
    let size = [image.width, image.height];
    let made = Image::with_levels(&image.name, format, size, all.level_count(), bytes);
    let channels = if are_normals { 2 } else { 4 };
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

/// The blocks of a level.
fn blocks(level: &ImageLevel<'_>, are_normals: bool, variant: CompressionVariant) -> Vec<u8> {
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
    let from = padded.chunks(BAND * across * 4);
    let to = blocks.chunks_mut(BAND / 4 * (across / 4) * BLOCK_BYTES);
    let mut bands: Vec<_> = from.zip(to).collect();
    let threads = thread::available_parallelism().map_or(1, |count| count.get());
    let each = bands.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        for bands in bands.chunks_mut(each) {
            scope.spawn(move || {
                for (from, to) in bands {
                    let rows = from.len() / (across * 4);
                    let (width, stride) = (across as u32, across as u32 * 4);
                    compress_rgba8(variant, from, to, width, rows as u32, stride);
                }
            });
        }
    });
    blocks
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
