//! Mip chains of images, made on the CPU before their upload.

use crate::mesh::Image;

/// One level of a mip chain: its size in texels and the byte offset of its texels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Level {
    /// Texels.
    pub(crate) width: u32,
    /// Texels.
    pub(crate) height: u32,
    /// Bytes from the start of the chain.
    pub(crate) offset: usize,
}

/// A whole mip chain in one run of bytes, finest level first.
#[derive(Debug)]
pub(crate) struct MipChain {
    pub(crate) levels: Vec<Level>,
    /// RGBA in 8 bits each.
    pub(crate) texels: Vec<u8>,
}

impl MipChain {
    /// Halves `image` until one texel is left, averaging in linear light.
    ///
    /// If `srgb` is true, the texels are encoded in sRGB and decoded first. Levels larger than
    /// `max_dimension` are left out.
    pub(crate) fn new(image: &Image, srgb: bool, max_dimension: u32) -> Self {
        let decode = srgb.then(srgb_to_linear_table);
        let mut chain = Self {
            levels: Vec::new(),
            texels: Vec::new(),
        };
        let (mut width, mut height, mut level) =
            (image.width, image.height, image.rgba().into_owned());
        loop {
            if width.max(height) <= max_dimension {
                chain.levels.push(Level {
                    width,
                    height,
                    offset: chain.texels.len(),
                });
                chain.texels.extend_from_slice(&level);
            }
            if width.max(height) <= 1 {
                return chain;
            }
            level = halve(&level, width, height, decode.as_ref());
            (width, height) = ((width / 2).max(1), (height / 2).max(1));
        }
    }
}

/// The next coarser level: each texel is the mean of the texels that it covers.
fn halve(texels: &[u8], width: u32, height: u32, decode: Option<&[f32; 256]>) -> Vec<u8> {
    let (half_width, half_height) = ((width / 2).max(1), (height / 2).max(1));
    let mut out = Vec::with_capacity(half_width as usize * half_height as usize * 4);
    for y in 0..half_height {
        for x in 0..half_width {
            let mut sum = [0.0_f32; 4];
            for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                let (sx, sy) = ((x * 2 + dx).min(width - 1), (y * 2 + dy).min(height - 1));
                let at = (sy as usize * width as usize + sx as usize) * 4;
                let Some(texel) = texels.get(at..at + 4) else {
                    continue;
                };
                for (channel, sum) in sum.iter_mut().take(3).enumerate() {
                    let texel = texel[channel];
                    *sum += decode.map_or(f32::from(texel), |table| table[usize::from(texel)]);
                }
                sum[3] += f32::from(texel[3]);
            }
            let color = |channel: usize| {
                let mean = sum[channel] * 0.25;
                decode.map_or(mean.round() as u8, |_| linear_to_srgb(mean))
            };
            out.extend([color(0), color(1), color(2), (sum[3] * 0.25).round() as u8]);
        }
    }
    out
}

/// The transfer function of IEC 61966-2-1.
fn srgb_to_linear_table() -> [f32; 256] {
    core::array::from_fn(|byte| {
        let value = byte as f32 / 255.0;
        if value <= 0.040_45 {
            value / 12.92
        } else {
            ((value + 0.055) / 1.055).powf(2.4)
        }
    })
}

fn linear_to_srgb(value: f32) -> u8 {
    let encoded = if value <= 0.003_130_8 {
        value * 12.92
    } else {
        1.055 * value.powf(1.0 / 2.4) - 0.055
    };
    (encoded * 255.0).round().clamp(0.0, 255.0) as u8
}
