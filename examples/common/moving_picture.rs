//! An animated picture: all frames in one PNG (APNG), which browsers play in a loop.

use std::cell::RefCell;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use png::{BitDepth, BlendOp, ColorType, Compression, DisposeOp, Encoder, Filter, Writer};
use throng::ash::vk;

use super::Result;

/// Channel changes up to this are left out. This halves the file, and the difference is invisible.
const TOLERANCE: u8 = 10;
/// Channels of moving pixels are quantised by this factor, for the same reason.
const STEP: u8 = 8;

/// Writes frames one by one. A frame stores only the pixels that differ from the previous frame.
pub(crate) struct MovingPicture {
    writer: Writer<Bytes>,
    bytes: Bytes,
    path: PathBuf,
    /// The picture that a viewer shows so far.
    shown: Vec<u8>,
}

/// The bytes so far. They become a file once they are complete.
#[derive(Clone, Default)]
struct Bytes(Rc<RefCell<Vec<u8>>>);

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl MovingPicture {
    /// Creates a file for `frames` frames. Each is shown for `dt_s` seconds.
    pub(crate) fn new(path: &Path, extent: vk::Extent2D, frames: u32, dt_s: f64) -> Result<Self> {
        let bytes = Bytes::default();
        let mut encoder = Encoder::new(bytes.clone(), extent.width, extent.height);
        encoder.set_color(ColorType::Rgba);
        encoder.set_depth(BitDepth::Eight);
        encoder.set_compression(Compression::High);
        encoder.set_animated(frames, 0)?;
        let delay_ms = (dt_s * 1e3).round().clamp(0.0, u16::MAX.into());
        encoder.set_frame_delay(delay_ms as u16, 1000)?;
        encoder.set_dispose_op(DisposeOp::None)?;
        encoder.set_blend_op(BlendOp::Over)?;
        Ok(Self {
            writer: encoder.write_header()?,
            bytes,
            path: path.into(),
            shown: Vec::new(),
        })
    }

    /// Adds a frame: rows from the top, RGBA, opaque.
    pub(crate) fn add(&mut self, rgba: Vec<u8>) -> Result<()> {
        if self.shown.is_empty() {
            self.writer.set_filter(Filter::Adaptive);
            self.writer.write_image_data(&rgba)?;
            self.shown = rgba;
        } else {
            self.writer.set_filter(Filter::NoFilter);
            let changes = self.changes(rgba);
            self.writer.write_image_data(&changes)?;
        }
        Ok(())
    }

    /// The frame, with transparent pixels if the shown pixel is close enough.
    fn changes(&mut self, mut rgba: Vec<u8>) -> Vec<u8> {
        let texels = rgba.chunks_exact_mut(4);
        for (texel, shown) in texels.zip(self.shown.chunks_exact_mut(4)) {
            let near = |(a, b): (&u8, &u8)| a.abs_diff(*b) <= TOLERANCE;
            if texel.iter().zip(shown.iter()).all(near) {
                texel.fill(0);
            } else {
                let [color @ .., _] = texel else { continue };
                color
                    .iter_mut()
                    .for_each(|value| *value = *value / STEP * STEP + STEP / 2);
                shown.copy_from_slice(texel);
            }
        }
        rgba
    }

    /// Finishes the file.
    pub(crate) fn finish(self) -> Result<()> {
        self.writer.finish()?;
        Ok(throng::files::write(self.path, &self.bytes.0.take())?)
    }
}
