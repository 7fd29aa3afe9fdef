//! Moving pictures, as GIF or APNG.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use throng::ash::vk;

use super::Result;
use super::moving_picture::MovingPicture;

/// The speed of the search for 256 colours, 1 to 30. Higher is faster and worse.
const QUANTISER: i32 = 10;

/// A file that takes pictures one by one.
pub(crate) enum Recording {
    Gif(Box<Gif>),
    Apng(Box<MovingPicture>),
}

/// A GIF, with a palette for each frame.
pub(crate) struct Gif {
    encoder: gif::Encoder<Vec<u8>>,
    path: PathBuf,
    fps: f64,
    /// The number of pictures so far.
    count: u32,
    /// The delays so far, in hundredths of a second.
    delayed: u32,
    size: [u16; 2],
}

impl Recording {
    /// Creates a file for `frames` pictures of this size, in the format that its name says.
    ///
    /// # Errors
    /// If the file cannot be written, or is too large for its format.
    pub(crate) fn new(path: &Path, extent: vk::Extent2D, frames: u32, fps: f64) -> Result<Self> {
        let is_gif = path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("gif"));
        if !is_gif {
            let picture = MovingPicture::new(path, extent, frames, 1.0 / fps)?;
            return Ok(Self::Apng(Box::new(picture)));
        }
        let size = [extent.width.try_into()?, extent.height.try_into()?];
        let mut encoder = gif::Encoder::new(Vec::new(), size[0], size[1], &[])?;
        encoder.set_repeat(gif::Repeat::Infinite)?;
        Ok(Self::Gif(Box::new(Gif {
            encoder,
            path: path.into(),
            fps,
            count: 0,
            delayed: 0,
            size,
        })))
    }

    /// Adds a picture: rows from the top, RGBA.
    pub(crate) fn add(&mut self, mut rgba: Vec<u8>) -> Result<()> {
        match self {
            Self::Apng(picture) => picture.add(rgba),
            Self::Gif(gif) => {
                let [width, height] = gif.size;
                // Delays are rounded so that their sum is right.
                gif.count += 1;
                let until = (f64::from(gif.count) * 100.0 / gif.fps).round() as u32;
                let delay = until.saturating_sub(gif.delayed).max(1);
                gif.delayed += delay;
                let frame = gif::Frame {
                    delay: delay as u16,
                    ..gif::Frame::from_rgba_speed(width, height, &mut rgba, QUANTISER)
                };
                let frame = gif::Frame {
                    buffer: Cow::Owned(frame.buffer.into_owned()),
                    ..frame
                };
                Ok(gif.encoder.write_frame(&frame)?)
            }
        }
    }

    /// Finishes the file.
    pub(crate) fn finish(self) -> Result<()> {
        match self {
            Self::Apng(picture) => picture.finish(),
            Self::Gif(gif) => Ok(throng::files::write(gif.path, &gif.encoder.into_inner()?)?),
        }
    }
}
