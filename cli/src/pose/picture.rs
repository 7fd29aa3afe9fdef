//! Pictures as PNG files.

use crate::failure::Failure;
use std::path::PathBuf;

/// The path of a picture from the command line.
pub(super) fn png_path(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension() {
        Some(extension) if extension.eq_ignore_ascii_case("png") => Ok(path),
        _ => Err("pictures are written as PNG only: the name must end in .png".into()),
    }
}

/// Writes 8-bit RGBA, row by row from the top, as PNG.
pub(super) fn encode(
    to: impl std::io::Write,
    rgba: &[u8],
    width: u32,
    height: u32,
) -> Result<(), png::EncodingError> {
    let mut encoder = png::Encoder::new(to, width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(rgba)?;
    writer.finish()
}

/// A picture as the bytes of a PNG file.
pub(super) fn png(rgba: &[u8], (width, height): (u32, u32)) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    encode(&mut bytes, rgba, width, height)
        .map_err(|error| Failure::Write(format!("the picture cannot be encoded: {error}")))?;
    Ok(bytes)
}
