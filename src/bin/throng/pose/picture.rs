//! Pictures as PNG files.

use crate::failure::Failure;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// The path of a picture from the command line.
///
/// # Errors
/// The reason why it cannot name a PNG file.
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

/// Writes a picture to a file.
pub(super) fn write(path: &Path, rgba: &[u8], (width, height): (u32, u32)) -> Result<(), Failure> {
    let told =
        |error: String| Failure::Write(format!("{} cannot be written: {error}", path.display()));
    let file = File::create(path).map_err(|error| told(error.to_string()))?;
    encode(BufWriter::new(file), rgba, width, height).map_err(|error| told(error.to_string()))
}
