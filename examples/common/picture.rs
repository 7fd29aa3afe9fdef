//! Writes pictures as PNG files.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

/// Writes 8-bit RGBA, row by row from the top, as a PNG file.
pub(crate) fn write_rgba(
    path: impl AsRef<Path>,
    rgba: &[u8],
    width: u32,
    height: u32,
) -> Result<(), png::EncodingError> {
    let file = BufWriter::new(File::create(path)?);
    let mut encoder = png::Encoder::new(file, width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(rgba)?;
    writer.finish()
}
