//! Decoding of compressed images, for devices without their formats and for tools.

use super::astc;
use super::image_format::{ImageFormat, ImageLevel};
use texture2ddecoder::{decode_astc_block, decode_etc2_rgb_block, decode_etc2_rgba8_block};
use texture2ddecoder::{decode_eacr_block, decode_eacrg_block};

/// Texels of a block in each direction.
const EDGE: usize = 4;
/// Bytes of a row of a block.
const ROW: usize = EDGE * 4;
/// The colour of illegal blocks of ASTC: magenta.
const ILLEGAL: [u8; 4] = [255, 0, 255, 255];

/// The texels of a level as RGBA8. Missing blocks are black.
pub(super) fn decode(format: ImageFormat, level: &ImageLevel<'_>) -> Vec<u8> {
    let [width, height] = [level.width, level.height].map(|size| size as usize);
    let mut rgba = vec![0; width * height * 4];
    let mut blocks = level.bytes.chunks_exact(format.block_bytes() as usize);
    for y in (0..height).step_by(EDGE) {
        for (x, block) in (0..width).step_by(EDGE).zip(&mut blocks) {
            let texels = decode_block(format, block);
            let bytes = EDGE.min(width - x) * 4;
            for (row, texels) in (y..height).zip(texels.chunks_exact(ROW)) {
                let to = (row * width + x) * 4;
                rgba[to..to + bytes].copy_from_slice(&texels[..bytes]);
            }
        }
    }
    rgba
}

/// The texels of a block, which has [`ImageFormat::block_bytes`] bytes.
fn decode_block(format: ImageFormat, block: &[u8]) -> [u8; EDGE * ROW] {
    let mut rgba = [0; EDGE * ROW];
    let mut few = [0; EDGE * EDGE * 2];
    match format {
        ImageFormat::Rgba8 => {}
        ImageFormat::Bc1 | ImageFormat::Bc1Alpha => bcdec_rs::bc1(block, &mut rgba, ROW),
        ImageFormat::Bc3 => bcdec_rs::bc3(block, &mut rgba, ROW),
        ImageFormat::Bc4 => {
            bcdec_rs::bc4(block, &mut few, EDGE, false);
            spread(&few[..EDGE * EDGE], 1, &mut rgba);
        }
        ImageFormat::Bc5 => {
            bcdec_rs::bc5(block, &mut few, EDGE * 2, false);
            spread(&few, 2, &mut rgba);
        }
        ImageFormat::Bc7 => bcdec_rs::bc7(block, &mut rgba, ROW),
        ImageFormat::Etc2 => rgba = of_words(|to| decode_etc2_rgb_block(block, to)),
        ImageFormat::Etc2Alpha => rgba = of_words(|to| decode_etc2_rgba8_block(block, to)),
        ImageFormat::EacR => rgba = of_words(|to| decode_eacr_block(block, to)),
        ImageFormat::EacRg => rgba = of_words(|to| decode_eacrg_block(block, to)),
        ImageFormat::Astc4x4 => {
            let bytes = block.try_into().unwrap_or_default();
            match astc::is_legal(bytes) {
                true => rgba = of_words(|to| decode_astc_block(&bytes, EDGE, EDGE, to)),
                false => rgba.as_chunks_mut().0.fill(ILLEGAL),
            }
        }
    }
    if format == ImageFormat::Bc1 {
        let texels = rgba.as_chunks_mut::<4>().0;
        texels.iter_mut().for_each(|texel| texel[3] = u8::MAX);
    }
    rgba
}

/// Texels of one or two channels as RGBA.
fn spread(channels: &[u8], count: usize, rgba: &mut [u8]) {
    for (from, to) in channels
        .chunks_exact(count)
        .zip(rgba.as_chunks_mut::<4>().0)
    {
        to[..count].copy_from_slice(from);
        to[3] = u8::MAX;
    }
}

/// The texels that a decoder writes as words of blue, green, red and alpha.
fn of_words(decode: impl FnOnce(&mut [u32])) -> [u8; EDGE * ROW] {
    let mut words = [0; EDGE * EDGE];
    decode(&mut words);
    let mut rgba = [0; EDGE * ROW];
    for (to, word) in rgba.as_chunks_mut().0.iter_mut().zip(words) {
        let [blue, green, red, alpha] = word.to_le_bytes();
        *to = [red, green, blue, alpha];
    }
    rgba
}
