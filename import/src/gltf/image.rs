//! Decoding of PNG, JPEG and WebP to 8-bit RGBA, and reading of KTX2.

use super::fault::image_failed as failed;
use crate::budget::Budget;
use crate::format::is_lfs_pointer;
use std::io::Cursor;
use throng::error::{Object, Result};
use throng::mesh::Image;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

const PNG_SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";
const JPEG_START: [u8; 3] = [0xFF, 0xD8, 0xFF];

/// The width and the height of an image, and its texels as RGBA.
type Texels = ([u32; 2], Vec<u8>);

/// Decodes a PNG, JPEG, WebP or KTX2, which the first bytes distinguish. Sizes are checked before
/// any memory for the image is allocated.
pub(crate) fn decode(
    bytes: &[u8],
    name: &str,
    budget: &mut Budget<'_>,
    object: &Object,
) -> Result<Image> {
    #[cfg(feature = "ktx2")]
    if bytes.starts_with(&super::ktx2::SIGNATURE) {
        return super::ktx2::decode(bytes, name, budget, object);
    }
    let ([width, height], rgba) = if bytes.starts_with(&PNG_SIGNATURE) {
        decode_png(bytes, budget, object)?
    } else if bytes.starts_with(&JPEG_START) {
        decode_jpeg(bytes, budget, object)?
    } else if is_webp(bytes) {
        decode_webp(bytes, budget, object)?
    } else {
        return Err(failed(object, other_format(bytes)));
    };
    Ok(Image::new(name, width, height, rgba))
}

/// Palettes and depths below 8 bits are expanded, and 16 bits are rounded to 8.
fn decode_png(bytes: &[u8], budget: &mut Budget<'_>, object: &Object) -> Result<Texels> {
    let failed = |error: png::DecodingError| failed(object, &error.to_string());
    let limits = png::Limits {
        bytes: usize::try_from(budget.options.limits.decoded_bytes).unwrap_or(usize::MAX),
    };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(png::Transformations::EXPAND);
    decoder.set_ignore_text_chunk(true);
    let mut reader = decoder.read_info().map_err(failed)?;
    let (width, height) = reader.info().size();
    let (color, depth) = reader.output_color_type();
    let deep = depth == png::BitDepth::Sixteen;
    let texel_bytes = color.samples() << u32::from(deep);
    budget.image([width, height], texel_bytes, bytes.len(), object)?;
    let mut texels = vec![0; width as usize * height as usize * texel_bytes];
    reader.next_frame(&mut texels).map_err(failed)?;
    if deep {
        // Big-endian, rounded to the nearest of 256 steps.
        let nearest = |sample: &[u8; 2]| {
            let sample = u32::from(u16::from_be_bytes(*sample));
            ((sample + 128) / 257) as u8
        };
        texels = texels.as_chunks::<2>().0.iter().map(nearest).collect();
    }
    Ok(([width, height], to_rgba(texels, color.samples())))
}

/// Grey stays grey. All other formats, including CMYK, are decoded to RGB.
fn decode_jpeg(bytes: &[u8], budget: &mut Budget<'_>, object: &Object) -> Result<Texels> {
    let options = DecoderOptions::default()
        .set_strict_mode(false)
        .set_max_width(usize::MAX)
        .set_max_height(usize::MAX);
    let mut decoder = zune_jpeg::JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    let failed = |error: zune_jpeg::errors::DecodeErrors| failed(object, &error.to_string());
    decoder.decode_headers().map_err(failed)?;
    // The format has 16-bit sizes.
    let [width, height] = match decoder.dimensions() {
        Some((width, height)) => [width as u32, height as u32],
        None => [0; 2],
    };
    let (space, channels) = match decoder.input_colorspace() {
        Some(ColorSpace::Luma) => (ColorSpace::Luma, 1),
        _ => (ColorSpace::RGB, 3),
    };
    budget.image([width, height], channels, bytes.len(), object)?;
    decoder.set_options(decoder.options().jpeg_set_out_colorspace(space));
    let mut texels = vec![0; width as usize * height as usize * channels];
    decoder.decode_into(&mut texels).map_err(failed)?;
    Ok(([width, height], to_rgba(texels, channels)))
}

fn is_webp(bytes: &[u8]) -> bool {
    bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP")
}

#[cfg(feature = "webp")]
fn decode_webp(bytes: &[u8], budget: &mut Budget<'_>, object: &Object) -> Result<Texels> {
    let failed = |error: image_webp::DecodingError| failed(object, &error.to_string());
    let mut decoder = image_webp::WebPDecoder::new(Cursor::new(bytes)).map_err(failed)?;
    let (width, height) = decoder.dimensions();
    let channels = if decoder.has_alpha() { 4 } else { 3 };
    if decoder.is_animated() {
        return Err(self::failed(object, "it is animated"));
    }
    if !webp_frames(bytes).all(|size| size == [width, height]) {
        let why = "a frame does not have the size of the image";
        return Err(self::failed(object, why));
    }
    // The decoder has planes or RGBA of its own beside the result.
    budget.image([width, height], channels + 4, bytes.len(), object)?;
    let mut texels = vec![0; width as usize * height as usize * channels];
    decoder.read_image(&mut texels).map_err(failed)?;
    Ok(([width, height], to_rgba(texels, channels)))
}

/// The sizes of the lossy frames of a WebP.
///
/// The decoder allocates a frame before it compares its size with that of the image.
#[cfg(feature = "webp")]
fn webp_frames(bytes: &[u8]) -> impl Iterator<Item = [u32; 2]> {
    const START_CODE: [u8; 3] = [0x9D, 0x01, 0x2A];
    bytes.windows(18).filter_map(|chunk| {
        let is_frame = chunk.starts_with(b"VP8 ") && chunk[11..14] == START_CODE;
        let size = |at| u32::from(u16::from_le_bytes([chunk[at], chunk[at + 1]]) & 0x3FFF);
        is_frame.then(|| [size(14), size(16)])
    })
}

#[cfg(not(feature = "webp"))]
fn decode_webp(_: &[u8], _: &mut Budget<'_>, object: &Object) -> Result<Texels> {
    let why = "it is WebP, which needs the Cargo feature `webp` of throng-import";
    Err(failed(object, why))
}

/// The reason that an image of another format is not decoded.
fn other_format(bytes: &[u8]) -> &'static str {
    if is_lfs_pointer(bytes) {
        "it is only a Git LFS pointer: run `git lfs pull` to download the file itself"
    } else if bytes.starts_with(b"\xabKTX 20\xbb") {
        match cfg!(feature = "ktx2") {
            true => "it is KTX2 with a broken signature",
            false => "it is KTX2, which needs the Cargo feature `ktx2` of throng-import",
        }
    } else if bytes.starts_with(b"DDS ") {
        "it is DDS (MSFT_texture_dds), which is not supported"
    } else if bytes.get(4..12) == Some(b"ftypavif") {
        "it is AVIF (EXT_texture_avif), which is not supported"
    } else {
        "it is not PNG, JPEG, WebP or KTX2"
    }
}

/// Converts texels of 1 (grey), 2 (grey and alpha), 3 (RGB) or 4 channels to RGBA.
fn to_rgba(texels: Vec<u8>, channels: usize) -> Vec<u8> {
    let each = texels.chunks_exact(channels);
    match channels {
        1 => each.flat_map(|t| [t[0], t[0], t[0], u8::MAX]).collect(),
        2 => each.flat_map(|t| [t[0], t[0], t[0], t[1]]).collect(),
        3 => each.flat_map(|t| [t[0], t[1], t[2], u8::MAX]).collect(),
        _ => texels,
    }
}
