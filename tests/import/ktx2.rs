//! KTX2: all formats, all mip levels, and what is refused.
//!
//! `waves.png` has 24 × 20 texels. `basisu` 1.60 made from it, by the Python package `alktx2`, with
//! five mip levels: `etc1s.ktx2` (without alpha), `etc1s_alpha.ktx2`, `uastc.ktx2` (in Zstandard)
//! and `astc.ktx2`,
//! whose blocks of 6 by 6 do not become ASTC 4x4.

use crate::bad_images::with_image;
use crate::builder::Builder;
use crate::help::*;
use throng::import::{ImportOptions, TextureTarget};
use throng::mesh::{Image, ImageFormat};

const ETC1S: &[u8] = include_bytes!("pictures/etc1s.ktx2");
const ETC1S_ALPHA: &[u8] = include_bytes!("pictures/etc1s_alpha.ktx2");
const UASTC: &[u8] = include_bytes!("pictures/uastc.ktx2");
const ASTC: &[u8] = include_bytes!("pictures/astc.ktx2");

fn read(bytes: &[u8], textures: TextureTarget) -> Image {
    let options = ImportOptions {
        textures,
        ..options()
    };
    let imported = throng_import::bytes(&with_image(bytes).glb(), &options).unwrap();
    imported.images()[0].clone()
}

/// The root mean square of the differences of the first channels.
fn rms(a: &[u8], b: &[u8], channels: usize) -> f64 {
    assert_eq!(a.len(), b.len());
    let texels = a.chunks_exact(4).zip(b.chunks_exact(4));
    let each = texels.flat_map(|(a, b)| a.iter().zip(b).take(channels));
    let squares: f64 = each
        .clone()
        .map(|(a, b)| f64::from(a.abs_diff(*b)).powi(2))
        .sum();
    (squares / each.count() as f64).sqrt()
}

/// A KTX2 file of these levels, which have a scheme and their plain lengths.
fn file(format: u32, size: [u32; 2], scheme: u32, levels: &[(Vec<u8>, usize)]) -> Vec<u8> {
    let mut bytes = b"\xABKTX 20\xBB\r\n\x1A\n".to_vec();
    let list = 80 + 24 * levels.len();
    let words = [
        format,
        1,
        size[0],
        size[1],
        0,
        0,
        1,
        levels.len() as u32,
        scheme,
    ];
    let sections = [list as u32, 44, 0, 0, 0, 0, 0, 0];
    bytes.extend(words.into_iter().chain(sections).flat_map(u32::to_le_bytes));
    let mut at = list + 44;
    for (level, plain) in levels {
        bytes.extend(
            [at, level.len(), *plain]
                .into_iter()
                .flat_map(|it| (it as u64).to_le_bytes()),
        );
        at += level.len();
    }
    bytes.extend([0; 44]);
    levels.iter().for_each(|(level, _)| bytes.extend(level));
    bytes
}

/// A frame of Zstandard that stores these bytes.
fn stored_frame(bytes: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0xA0];
    frame.extend((bytes.len() as u32).to_le_bytes());
    frame.extend(&((bytes.len() as u32) << 3 | 1).to_le_bytes()[..3]);
    frame.extend(bytes);
    frame
}

#[test]
fn universal_images_become_what_is_asked_for() {
    use ImageFormat as F;
    use TextureTarget as T;
    let source = include_bytes!("pictures/waves.png");
    let source = read(source, T::Bc).rgba().unwrap().into_owned();
    // Measured: 12.6 for ETC1S, 4.9 for UASTC as BC7.
    for (bytes, alpha, bound) in [
        (ETC1S, false, 16.0),
        (ETC1S_ALPHA, true, 16.0),
        (UASTC, true, 8.0),
        (ASTC, true, 16.0),
    ] {
        for (target, format) in [
            (T::Bc, F::Bc7),
            (T::Astc, if bytes == ASTC { F::Rgba8 } else { F::Astc4x4 }),
            (T::Etc2, if alpha { F::Etc2Alpha } else { F::Etc2 }),
            (T::Rgba8, F::Rgba8),
        ] {
            let image = read(bytes, target);
            assert_eq!(
                (image.format(), image.width, image.height),
                (format, 24, 20)
            );
            let sizes: Vec<_> = image.levels().map(|it| [it.width, it.height]).collect();
            assert_eq!(sizes, [[24, 20], [12, 10], [6, 5], [3, 2], [1, 1]]);
            let channels = if alpha { 4 } else { 3 };
            let error = rms(&image.rgba().unwrap(), &source, channels);
            let bound = if target == T::Etc2 { 16.0 } else { bound };
            assert!(error < bound, "{format:?}, {alpha}: {error}");
        }
    }
}

#[test]
fn compressed_images_are_kept() {
    for (number, format) in [
        (37, ImageFormat::Rgba8),
        (131, ImageFormat::Bc1),
        (134, ImageFormat::Bc1Alpha),
        (137, ImageFormat::Bc3),
        (139, ImageFormat::Bc4),
        (141, ImageFormat::Bc5),
        (146, ImageFormat::Bc7),
        (147, ImageFormat::Etc2),
        (152, ImageFormat::Etc2Alpha),
        (153, ImageFormat::EacR),
        (155, ImageFormat::EacRg),
    ] {
        let level = |width, height, byte: u8| {
            let bytes = format.level_bytes(width, height) as usize;
            vec![byte; bytes]
        };
        let levels = [level(6, 5, 1), level(3, 2, 2), level(1, 1, 3)];
        let plain: Vec<_> = levels.iter().map(|it| (it.clone(), it.len())).collect();
        let packed: Vec<_> = levels
            .iter()
            .map(|it| (stored_frame(it), it.len()))
            .collect();
        for (scheme, all) in [(0, &plain), (2, &packed)] {
            let image = read(&file(number, [6, 5], scheme, all), TextureTarget::Rgba8);
            assert_eq!(image.format(), format);
            assert!(image.levels().map(|it| it.bytes).eq(&levels));
        }
    }
    // RGB, and one level of RGBA: the others are made later.
    let rgb = read(
        &file(29, [2, 1], 0, &[(vec![1, 2, 3, 4, 5, 6], 6)]),
        TextureTarget::Bc,
    );
    assert_eq!(*rgb.rgba().unwrap(), [1, 2, 3, 255, 4, 5, 6, 255]);
    assert_eq!((rgb.levels().count(), rgb.level_count()), (0, 2));
}

/// The reason that an image is replaced.
#[track_caller]
fn why(bytes: &[u8]) -> String {
    let b: Builder = with_image(bytes);
    let imported = repaired(&b);
    assert_eq!(&*imported.images()[0].name, "placeholder");
    imported.repairs[0].to_string()
}

#[test]
fn hostile_files_are_refused_by_name() {
    let good = file(145, [8, 8], 0, &[(vec![0; 64], 64)]);
    let with = |at: usize, value: u32| {
        let mut bytes = good.clone();
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        bytes
    };
    assert_eq!(read(&good, TextureTarget::Bc).format(), ImageFormat::Bc7);
    let replaced = "f: image 0: replaced by a placeholder: cannot be decoded:";
    for (bytes, words) in [
        (good[..100].to_vec(), "its KTX2 is truncated"),
        (
            with(12, 1000),
            "the format 1000 of its KTX2 is not supported",
        ),
        (with(12, 0), "the format 0 of its KTX2 is not supported"),
        (with(20, 0), "its KTX2 is not one two-dimensional image"),
        (with(28, 4), "its KTX2 is not one two-dimensional image"),
        (with(32, 2), "its KTX2 is not one two-dimensional image"),
        (with(36, 6), "its KTX2 is not one two-dimensional image"),
        (
            with(40, 5),
            "its KTX2 has more mip levels than its size allows",
        ),
        (
            with(40, u32::MAX),
            "its KTX2 has more mip levels than its size allows",
        ),
        (with(44, 1), "its supercompression 1 is not supported"),
        (with(44, 3), "its supercompression 3 is not supported"),
        (with(52, 8), "its KTX2 has no data format descriptor"),
        (with(48, u32::MAX), "its KTX2 is truncated"),
        (with(60, u32::MAX), "its KTX2 is truncated"),
        (with(84, 1), "its KTX2 is truncated"),
        (with(88, 48), "level 0 has 48 bytes, its size needs 64"),
        (with(20, 400), "level 0 has 64 bytes, its size needs 3200"),
    ] {
        assert_eq!(why(&bytes), format!("{replaced} {words} (1)"));
    }
    // A bomb: the stated size is that of the image, the frame has more, or needs a large window.
    let packed = |frame: Vec<u8>| file(145, [8, 8], 2, &[(frame, 64)]);
    let more = why(&packed(stored_frame(&[0; 80])));
    assert!(more.starts_with(&format!("{replaced} level 0: ")), "{more}");
    let less = why(&packed(stored_frame(&[0; 48])));
    assert_eq!(
        less,
        format!("{replaced} level 0: 48 bytes are compressed, its size needs 64 (1)")
    );
    let window = why(&packed(vec![0x28, 0xB5, 0x2F, 0xFD, 0, 0x88, 1, 0, 0]));
    assert!(
        window.starts_with(&format!("{replaced} level 0: ")),
        "{window}"
    );
    let broken = why(&packed(vec![7; 20]));
    assert!(
        broken.starts_with(&format!("{replaced} level 0: ")),
        "{broken}"
    );
    let cut = why(&ETC1S[..ETC1S.len() - 30]);
    assert_eq!(cut, format!("{replaced} its KTX2 is truncated (1)"));
    // Caps are errors, as for other images.
    let large = with_image(&with(20, 1 << 20)).glb();
    let mut small = options();
    small.limits.image_texels = 1 << 20;
    let words = "f: image 0: texels of one image: 8388608 exceeds the limit of 1048576";
    throng_import::bytes(&large, &small).fails(words);
}
