//! Every kind of PNG, JPEG and WebP gives 8-bit RGBA.
//!
//! The files in `pictures/` are gradients of 5 × 4 to 23 × 17 texels, made by ImageMagick:
//!
//! - PNG: grey, RGB and palette, with and without alpha, of 2, 8 and 16 bits, interlaced, and with
//!   a transparent colour;
//! - JPEG: baseline, progressive, grey and CMYK;
//! - WebP: lossy and lossless, with and without alpha (64 to 255, from top to bottom), by libwebp.

use crate::builder::*;
use crate::help::*;
use serde_json::json;

type Rgba = [u8; 4];

/// File, size, first texel, last texel, sum of all bytes.
type Kind = (&'static str, &'static [u8], (u32, u32), Rgba, Rgba, u64);

macro_rules! file {
    ($name:literal) => {
        include_bytes!(concat!("pictures/", $name))
    };
}

#[rustfmt::skip]
const KINDS: [Kind; 13] = [
    ("baseline.jpg", file!("baseline.jpg"), (23, 17), [254, 0, 2, 255], [0, 0, 254, 255], 156236516),
    ("cmyk.jpg", file!("cmyk.jpg"), (23, 17), [255, 0, 0, 255], [0, 0, 255, 255], 155777206),
    ("grey.jpg", file!("grey.jpg"), (23, 17), [0, 0, 0, 255], [255, 255, 255, 255], 236392620),
    ("progressive.jpg", file!("progressive.jpg"), (23, 17), [254, 0, 2, 255], [0, 0, 254, 255], 156236516),
    ("grey2.png", file!("grey2.png"), (5, 4), [0, 0, 0, 255], [255, 255, 255, 255], 647700),
    ("grey_alpha.png", file!("grey_alpha.png"), (5, 4), [0, 0, 0, 32], [255, 255, 255, 255], 697290),
    ("grey_alpha16.png", file!("grey_alpha16.png"), (5, 4), [0, 0, 0, 32], [255, 255, 255, 255], 697290),
    ("interlaced.png", file!("interlaced.png"), (9, 7), [255, 0, 0, 255], [0, 0, 255, 255], 4081554),
    ("palette.png", file!("palette.png"), (5, 4), [255, 0, 0, 255], [0, 0, 255, 255], 418200),
    ("palette_alpha.png", file!("palette_alpha.png"), (5, 4), [255, 255, 255, 0], [0, 0, 255, 255], 466650),
    ("rgb16.png", file!("rgb16.png"), (5, 4), [255, 0, 0, 255], [0, 0, 255, 255], 418200),
    ("rgb_trns.png", file!("rgb_trns.png"), (5, 4), [255, 0, 0, 0], [0, 0, 255, 255], 402900),
    ("rgba16.png", file!("rgba16.png"), (5, 4), [255, 0, 0, 128], [0, 0, 255, 255], 386820),
];

#[test]
fn every_kind_of_image_gives_rgba() {
    for (name, bytes, size, first, last, sum) in KINDS {
        let mut b = triangle();
        let view = b.view(bytes);
        b.json["images"] = json!([{ "bufferView": view }]);
        b.json["textures"] = json!([{ "source": 0 }]);
        b.json["materials"] =
            json!([{ "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } } }]);
        b.json["meshes"][0]["primitives"][0]["material"] = json!(0);
        let character = import(&b);
        let image = &character.images()[0];
        assert_eq!((image.width, image.height), size, "{name}");
        let rgba = image.rgba().unwrap();
        let texels = rgba.as_chunks::<4>().0;
        assert_eq!(texels.len() as u32, size.0 * size.1, "{name}");
        // Weighted by place, so that texels in another order show.
        let bytes = rgba.iter().enumerate();
        let total: u64 = bytes
            .map(|(at, byte)| (at as u64 + 1) * u64::from(*byte))
            .sum();
        let got = (texels[0], texels[texels.len() - 1], total);
        assert_eq!(got, (first, last, sum), "{name}");
    }
}

#[cfg(feature = "webp")]
#[test]
fn webp_gives_rgba() {
    for (name, bytes, has_alpha, by) in [
        ("lossless.webp", &file!("lossless.webp")[..], false, 0),
        ("lossless_alpha.webp", file!("lossless_alpha.webp"), true, 0),
        ("lossy.webp", file!("lossy.webp"), false, 12),
        ("lossy_alpha.webp", file!("lossy_alpha.webp"), true, 12),
    ] {
        let mut b = triangle();
        let view = b.view(bytes);
        b.json["images"] = json!([{ "bufferView": view, "mimeType": "image/webp" }]);
        b.json["extensionsRequired"] = json!(["EXT_texture_webp"]);
        b.json["textures"] = json!([{ "extensions": { "EXT_texture_webp": { "source": 0 } } }]);
        b.json["materials"] =
            json!([{ "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } } }]);
        b.json["meshes"][0]["primitives"][0]["material"] = json!(0);
        let character = import(&b);
        let image = &character.images()[0];
        assert_eq!((image.width, image.height), (23, 17), "{name}");
        for (at, texel) in image.rgba().unwrap().as_chunks::<4>().0.iter().enumerate() {
            let (x, y) = ((at % 23) as f32, (at / 23) as f32);
            let blue = (x * 255.0 / 22.0).round();
            let alpha = if has_alpha {
                (64.0 + y * 191.0 / 16.0).round()
            } else {
                255.0
            };
            // Lossy colours blur into each other.
            for (got, want) in texel.iter().zip([255.0 - blue, 0.0, blue, alpha]) {
                assert!(
                    (f32::from(*got) - want).abs() <= by as f32,
                    "{name} {at}: {texel:?}"
                );
            }
        }
    }
}
