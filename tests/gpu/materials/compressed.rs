//! Compressed images, sampled as they are and decoded.

use super::made::{character, sharp, square};
use super::{HERE, Stage, camera};
use crate::reference::picture::different;
use crate::reference::rng::Rng;
use crate::support::each;
use throng::gpu::{Features, SkinnedMesh};
use throng::import::Imported;
use throng::mesh::{Image, ImageFormat, Material};

/// Texels of the images in each direction.
const EDGE: u32 = 16;

/// An image of random blocks.
fn blocks(format: ImageFormat, rng: &mut Rng) -> Image {
    let bytes = format.level_bytes(EDGE, EDGE) as usize;
    let mut bytes: Vec<u8> = (0..bytes).map(|_| rng.bits() as u8).collect();
    for block in bytes.chunks_exact_mut(16) {
        match format {
            // Each of its eight modes.
            ImageFormat::Bc7 => block[0] = (block[0] | 1) << (block[1] % 8),
            // Random blocks are mostly illegal: these have one colour.
            ImageFormat::Astc4x4 => {
                block[..8].copy_from_slice(&[0xFC, 0xFD, 255, 255, 255, 255, 255, 255]);
            }
            _ => {}
        }
    }
    Image::with_levels("blocks", format, [EDGE; 2], 1, bytes)
}

/// A square with this image as its colour, or as its normal map.
fn with(image: Image, is_color: bool) -> Imported {
    let material = match is_color {
        true => Material {
            base_color_texture: Some(sharp(0)),
            unlit: true,
            ..Material::default()
        },
        false => Material {
            base_color: [0.7, 0.7, 0.7, 1.0],
            normal_texture: Some(sharp(0)),
            ..Material::default()
        },
    };
    character(vec![square()], vec![material], vec![image])
}

/// A device with the features samples what the decoder of the CPU gives, and one without them
/// draws the same.
#[test]
fn compressed_images_are_drawn_on_all_devices() {
    let compression = Features::TEXTURE_COMPRESSION_BC
        | Features::TEXTURE_COMPRESSION_ETC2
        | Features::TEXTURE_COMPRESSION_ASTC;
    let mut native = 0;
    each(|setup| {
        let mut stage = Stage::new(setup);
        let mut rng = Rng::new(5);
        for format in ImageFormat::ALL {
            for is_color in [true, false] {
                let image = blocks(format, &mut rng);
                let decoded = with(image.decoded().unwrap().into_owned(), is_color);
                let made = with(image, is_color);
                let enabled = setup.device().enabled();
                let figures = SkinnedMesh::image_figures(&made, enabled);
                let id = stage.add(setup, &made);
                assert_eq!(stage.crowd.mesh(id).unwrap().images(), figures);
                stage.crowd.remove_character(id).unwrap();
                let is_native = figures[0].format == format && format != ImageFormat::Rgba8;
                native += u32::from(is_native);
                if !enabled.contains(compression) {
                    assert!(!is_native || enabled != enabled - compression);
                }
                let bytes = match is_native {
                    true => format.bytes(EDGE, EDGE, 1),
                    false => u64::from(EDGE * EDGE * 4),
                };
                assert_eq!((figures.len(), figures[0].bytes), (1, bytes));
                let drawn = stage.alone(setup, &made, &HERE, &camera());
                let expected = stage.alone(setup, &decoded, &HERE, &camera());
                // Decoders round interpolated colours in their own ways.
                let off = different(&drawn, &expected, 3);
                assert_eq!(off, 0, "{}, {is_color}", format.name());
            }
        }
        stage.destroy(setup);
    });
    // lavapipe has all three features: all but RGBA8, twice, and the four without sRGB once.
    assert!(native > 0, "no device sampled a compressed image");
}

/// A normal map of two channels leans like one of three.
#[test]
fn normals_of_two_channels_get_their_third() {
    each(|setup| {
        let mut stage = Stage::new(setup);
        let corners = [[128, 128], [190, 100], [90, 200], [220, 150_u8]];
        let (mut blocks, mut rgba) = (Vec::new(), vec![[0; 4]; 64]);
        for (at, corner) in corners.into_iter().enumerate() {
            for value in corner {
                blocks.extend([value, value, 0, 0, 0, 0, 0, 0]);
            }
            let [x, y] = corner.map(|value| f32::from(value) / 127.5 - 1.0);
            let z = (1.0 - x * x - y * y).sqrt();
            let texel = [corner[0], corner[1], ((z + 1.0) * 127.5).round() as u8, 255];
            for inner in 0..16 {
                let (column, row) = (at % 2 * 4 + inner % 4, at / 2 * 4 + inner / 4);
                rgba[row * 8 + column] = texel;
            }
        }
        let two = Image::with_levels("two", ImageFormat::Bc5, [8; 2], 1, blocks);
        let three = Image::new("three", 8, 8, rgba.concat());
        let [two, three] = [two, three].map(|image| {
            let made = with(image, false);
            stage.alone(setup, &made, &HERE, &camera())
        });
        // Blue is rounded to a step of 255.
        assert_eq!(different(&two, &three, 2), 0);
        stage.destroy(setup);
    });
}
