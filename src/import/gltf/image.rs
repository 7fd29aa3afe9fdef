//! PNG and JPEG to 8-bit RGBA.

use super::read::{cut, fault_of};
use super::source::Source;
use crate::error::{AssetFault, Object, Result};
use crate::mesh::Image;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};
use std::io::Cursor;

/// Decodes an image, whose kind its first bytes tell. Sizes are checked before anything of them is
/// allocated.
pub(super) fn decode(
    bytes: &[u8],
    name: &str,
    source: &mut Source<'_>,
    object: &Object,
) -> Result<Image> {
    let failed = |error: ::image::ImageError| {
        let why = AssetFault::Image(cut(&error.to_string()));
        fault_of(object.clone(), why)
    };
    let format = match ::image::guess_format(bytes) {
        Ok(format @ (ImageFormat::Png | ImageFormat::Jpeg)) => format,
        _ => {
            let why = AssetFault::Image("it is neither PNG nor JPEG".into());
            return Err(fault_of(object.clone(), why));
        }
    };
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits = Limits::default();
    limits.max_alloc = Some(source.options.max_decoded_bytes);
    reader.limits(limits);
    let decoder = reader.into_decoder().map_err(failed)?;
    let (width, height) = decoder.dimensions();
    charge(&decoder, bytes.len(), source, object)?;
    let pixels = DynamicImage::from_decoder(decoder)
        .map_err(failed)?
        .into_rgba8();
    Ok(Image {
        name: name.into(),
        width,
        height,
        rgba: pixels.into_raw(),
    })
}

/// Checks the size that an image claims, and charges for it.
fn charge(
    decoder: &impl ImageDecoder,
    encoded_bytes: usize,
    source: &mut Source<'_>,
    object: &Object,
) -> Result<()> {
    let (width, height) = decoder.dimensions();
    let asked = u64::from(width) * u64::from(height);
    let cap = source.options.max_image_texels;
    if asked > cap {
        let what = "texels of one image";
        return Err(fault_of(
            object.clone(),
            AssetFault::Cap { what, asked, cap },
        ));
    }
    if asked == 0 {
        let why = AssetFault::Image("it has no pixels".into());
        return Err(fault_of(object.clone(), why));
    }
    // The encoded bytes too: many images may share them, and each costs reading all of them.
    let decoded = decoder.total_bytes().saturating_add(asked * 4);
    let bytes = decoded.saturating_add(encoded_bytes as u64);
    source.charge(bytes, || object.clone())
}
