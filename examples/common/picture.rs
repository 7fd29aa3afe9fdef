//! Writes pictures as PNG files.

use std::path::{Path, PathBuf};

/// Returns the path of a picture from the command line.
///
/// # Errors
/// The reason why it cannot name a PNG file.
#[allow(
    dead_code,
    reason = "only some examples take the path from the command line"
)]
pub(crate) fn png_path(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension() {
        Some(extension) if extension.eq_ignore_ascii_case("png") => Ok(path),
        Some(extension) => Err(format!(
            "pictures are written as PNG only: expected the extension .png, not .{}",
            extension.display()
        )),
        None => Err("pictures are written as PNG only: expected the extension .png".into()),
    }
}

/// Writes 8-bit RGBA, row by row from the top, as a PNG file. The file is complete or does not
/// change.
pub(crate) fn write_rgba(
    path: impl AsRef<Path>,
    rgba: &[u8],
    width: u32,
    height: u32,
) -> Result<(), png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(rgba)?;
    writer.finish()?;
    throng::files::write(path, &bytes).map_err(|error| std::io::Error::other(error).into())
}
