//! Mip levels made from an image.

/// All mip levels of an RGBA8 image in one run of bytes, the finest first.
///
/// Each level halves the one before, averaging in linear light, until one texel is left. If `srgb`
/// is true, the texels are encoded in sRGB and decoded first.
pub(super) fn chain([mut width, mut height]: [u32; 2], rgba: &[u8], srgb: bool) -> (u32, Vec<u8>) {
    let decode = srgb.then(srgb_to_linear_table);
    let mut texels = Vec::with_capacity(rgba.len() / 3 * 4);
    texels.extend_from_slice(rgba);
    let (mut levels, mut from) = (1, 0);
    while width.max(height) > 1 {
        let to = texels.len();
        let level = halve(&texels[from..], width, height, decode.as_ref());
        texels.extend_from_slice(&level);
        (width, height) = ((width / 2).max(1), (height / 2).max(1));
        (levels, from) = (levels + 1, to);
    }
    (levels, texels)
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
