//! Images that are replaced or refused.

use crate::builder::*;
use crate::help::*;
use crate::reference::cases;
use serde_json::json;
use throng::error::AssetFault;
use throng::import::{ImportOptions, RepairKind, ResourceReader};
use throng::mesh::Image;

const TEXTURES: [&str; 5] = [
    "baseColorTexture",
    "metallicRoughnessTexture",
    "normalTexture",
    "occlusionTexture",
    "emissiveTexture",
];

/// A triangle whose base colour is this image.
pub(crate) fn with_image(bytes: &[u8]) -> Builder {
    let mut b = triangle();
    let view = b.view(bytes);
    b.json["images"] = json!([{ "bufferView": view }]);
    with_textures(b, &TEXTURES[..1])
}

/// The same file, whose material uses texture 0 in these slots.
fn with_textures(mut b: Builder, slots: &[&str]) -> Builder {
    b.json["textures"] = json!([{ "source": 0 }]);
    b.json["materials"] = json!([{ "pbrMetallicRoughness": {}, "emissiveFactor": [1, 1, 1] }]);
    let material = &mut b.json["materials"][0];
    for slot in slots {
        let place = if slot.starts_with(['b', 'm']) {
            &mut material["pbrMetallicRoughness"]
        } else {
            &mut *material
        };
        place[*slot] = json!({ "index": 0 });
    }
    let uvs = b.accessor("VEC2", F32, &[0.0_f32; 6]);
    b.json["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"] = json!(uvs);
    b.json["meshes"][0]["primitives"][0]["material"] = json!(0);
    b
}

fn assert_is_placeholder(image: &Image) {
    let rgba = image.rgba().unwrap();
    let texel = |x: u32, y: u32| &rgba[(y * image.width + x) as usize * 4..][..4];
    let (magenta, black) = ([255, 0, 255, 255], [0, 0, 0, 255]);
    assert_eq!(texel(0, 0), magenta);
    assert_eq!(
        (texel(1, 1), texel(2, 1), texel(2, 2)),
        (&magenta[..], &black[..], &magenta[..])
    );
    let colours = rgba.chunks(4);
    assert!(
        colours
            .clone()
            .all(|texel| texel == magenta || texel == black)
    );
    assert_eq!(colours.len() as u32, image.width * image.height);
}

#[test]
fn images_that_cannot_be_decoded_are_replaced() {
    let png = grey_png(40, 30);
    let good = repaired(&with_image(&png));
    told(&good, &[]);
    let truncated = match cfg!(feature = "ktx2") {
        true => "cannot be decoded: its KTX2 is truncated",
        false => "cannot be decoded: it is KTX2, which needs the Cargo feature `ktx2`",
    };
    for (case, bytes, why) in cases![
        &png[..png.len() / 2] => "cannot be decoded: ";
        b"GIF89a...." => "cannot be decoded: it is not PNG, JPEG, WebP or KTX2";
        b"\xabKTX 20\xbb\r\n\x1a\n" => truncated;
        b"\0\0\0 ftypavif"
            => "cannot be decoded: it is AVIF (EXT_texture_avif), which is not supported";
        b"DDS |" => "cannot be decoded: it is DDS (MSFT_texture_dds), which is not supported";
        b"RIFF    WEBPVP8 " => "cannot be decoded: ";
    ] {
        let c = repaired(&with_image(bytes));
        assert_is_placeholder(&c.images()[0]);
        let texture = c.materials()[0].base_color_texture.unwrap();
        assert_eq!((texture.image, c.images().len()), (0, 1));
        let [repair] = &c.repairs[..] else {
            panic!("{:?}", c.repairs);
        };
        assert!(matches!(&repair.kind, RepairKind::ImageReplaced(why)
            if matches!(**why, AssetFault::Image(_))));
        let words = format!("f: image 0: replaced by a placeholder: {why}…");
        repair.says_in(case, words);
    }
    let mut b = with_image(&png);
    b.json["images"][0] = json!({});
    let c = repaired(&b);
    told(
        &c,
        &["image 0: replaced by a placeholder: missing uri or bufferView (1)"],
    );
}

#[test]
fn the_reason_of_a_decoder_is_one_line() {
    let jpeg = include_bytes!("pictures/baseline.jpg");
    for end in (3..jpeg.len()).step_by(11) {
        for repair in &repaired(&with_image(&jpeg[..end])).repairs {
            let words = repair.to_string();
            assert!(!words.contains(['\n', '\r', '\t']), "{end}: {words:?}");
            assert!(!words.contains("  "), "{end}: {words:?}");
        }
    }
}

#[test]
fn images_that_are_missing_are_replaced() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("import_no_image");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("f");
    let with_uri = |uri: &str| {
        let mut b = triangle();
        b.json["images"] = json!([{ "uri": uri }]);
        with_textures(b, &TEXTURES[..1])
    };
    for (uri, why) in [
        ("skin.png", "cannot be read: it does not exist"),
        (".", "cannot be read: is a directory"),
        ("../skin.png", "leads out of the folder"),
        (
            "https://host/skin.png",
            "has a scheme or a drive; only relative paths are read",
        ),
        ("data:image/png;base64,***", "is not valid base64"),
    ] {
        std::fs::write(&path, with_uri(uri).glb()).unwrap();
        let c = throng_import::file(&path, &options()).unwrap();
        let words =
            format!("image 0: replaced by a placeholder: refers to \"{uri}\", which {why} (1)");
        told(&c, &[&words]);
        assert_is_placeholder(&c.images()[0]);
    }
    let c = repaired(&with_uri("skin.png"));
    let why = "which is not available: only bytes were given";
    told(
        &c,
        &[&format!(
            "image 0: replaced by a placeholder: refers to \"skin.png\", {why} (1)"
        )],
    );
}

#[test]
fn all_colours_share_one_placeholder_and_other_textures_are_left_out() {
    let mut b = with_textures(with_image(b"none"), &TEXTURES);
    // A second image, that of a second texture.
    b.json["images"] = json!([b.json["images"][0], {}]);
    b.json["textures"] = json!([{ "source": 0 }, { "source": 1 }]);
    b.json["materials"][0]["emissiveTexture"]["index"] = json!(1);
    let c = repaired(&b);
    assert_eq!(c.images().len(), 1);
    told(
        &c,
        &[
            "image 0: replaced by a placeholder: cannot be decoded: it is not PNG, JPEG, WebP or KTX2 \
             (1)",
            "image 0: left out: cannot be decoded: it is not PNG, JPEG, WebP or KTX2 (1)",
            "image 1: replaced by a placeholder: missing uri or bufferView (1)",
        ],
    );
    assert_is_placeholder(&c.images()[0]);
    let material = &c.materials()[0];
    let shown = material
        .textures()
        .map(|texture| texture.map(|texture| texture.image));
    assert_eq!(shown, [Some(0), None, None, None, Some(0), None]);
    assert_eq!((material.metallic, material.roughness), (0.0, 1.0));
    let only_normals = repaired(&with_textures(with_image(b"none"), &["normalTexture"]));
    assert_eq!(
        (only_normals.images(), only_normals.repairs.len()),
        (&[][..], 1)
    );
    assert_eq!(only_normals.materials()[0].metallic, 1.0);
    told(
        &only_normals,
        &["image 0: left out: cannot be decoded: it is not PNG, JPEG, WebP or KTX2 (1)"],
    );
}

#[test]
fn repairs_of_images_are_in_the_order_of_the_file() {
    let mut b = with_textures(with_image(b"none"), &TEXTURES);
    // The base colour uses the last image, the others those before it.
    b.json["images"] = json!(vec![json!({}); TEXTURES.len()]);
    let sources = (0..TEXTURES.len()).rev();
    b.json["textures"] = sources.map(|image| json!({ "source": image })).collect();
    let material = &mut b.json["materials"][0];
    for (texture, name) in TEXTURES.into_iter().enumerate() {
        let object = if name.starts_with(['b', 'm']) {
            &mut material["pbrMetallicRoughness"]
        } else {
            &mut *material
        };
        object[name]["index"] = json!(texture);
    }
    let words =
        |image: usize, done: &str| format!("image {image}: {done}: missing uri or bufferView (1)");
    let (replaced, left_out) = ("replaced by a placeholder", "left out");
    let done = [replaced, left_out, left_out, left_out, replaced];
    let lines: Vec<String> = (0..)
        .zip(done)
        .map(|(image, done)| words(image, done))
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    told(&repaired(&b), &lines);
}

#[test]
fn images_can_be_left_out_altogether() {
    let never = |uri: &str| -> throng::Result<Vec<u8>> { panic!("asked for {uri}") };
    let options = ImportOptions {
        images: false,
        resources: Some(ResourceReader::new(never)),
        ..options()
    };
    let mut b = with_textures(with_image(b"none"), &TEXTURES);
    b.json["images"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "uri": "skin.png" }));
    b.json["textures"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "source": 1 }));
    b.json["materials"][0]["emissiveTexture"]["index"] = json!(1);
    let c = throng_import::bytes(&b.glb(), &options).unwrap();
    assert_eq!(c.images(), []);
    told(&c, &[]);
    let material = &c.materials()[0];
    assert_eq!((material.textures(), material.metallic), ([None; 6], 1.0));
}

#[test]
fn caps_and_broken_references_of_images_are_errors() {
    let png = grey_png(40, 30);
    let mut small = options();
    small.limits.image_texels = 1199;
    throng_import::bytes(&with_image(&png).glb(), &small)
        .fails("f: image 0: texels of one image: 1200 exceeds the limit of 1199");
    let mut b = with_image(&png);
    b.json["images"][0]["uri"] = json!("x.png");
    refused(&b.glb()).says("f: image 0: has both a uri and a bufferView");
    b.json["samplers"] = json!([{ "wrapS": 1 }]);
    b.json["textures"] = json!([{ "source": 0, "sampler": 0 }]);
    refused(&b.glb()).says("f: sampler 0, wrapS: wrapS is 1…");
    b.json["images"] = json!([{ "bufferView": 99 }]);
    b.json["textures"] = json!([{ "source": 0 }]);
    refused(&b.glb()).says("f: image 0: refers to bufferView 99…");
}

/// The image of an extension is replaced too, even if the file requires the extension.
#[test]
fn images_of_extensions_are_replaced() {
    for extension in [
        "KHR_texture_basisu",
        "EXT_texture_avif",
        "MSFT_texture_dds",
        "GOOGLE_texture_basis",
        "EXT_texture_webp",
    ] {
        let mut b = with_image(b"\0\0\0 ftypavif");
        b.json["extensionsRequired"] = json!([extension]);
        b.json["textures"] = json!([{ "extensions": { extension: { "source": 0 } } }]);
        let c = repaired(&b);
        told(
            &c,
            &[
                "image 0: replaced by a placeholder: cannot be decoded: it is AVIF \
               (EXT_texture_avif), which is not supported (1)",
            ],
        );
        assert_is_placeholder(&c.images()[0]);
        // The texture's own image is preferred.
        let view = b.view(&grey_png(3, 2));
        b.add("images", json!({ "bufferView": view }));
        b.json["textures"][0]["source"] = json!(1);
        assert_eq!(repaired(&b).images()[0].width, 3);
        b.json["textures"] = json!([{ "extensions": { extension: { "source": 9 } } }]);
        let words = "f: texture 0, source: refers to image 9, but there are 2";
        assert_eq!(refused(&b.glb()), words);
    }
}

/// The decoder would allocate a frame of 16,383 × 16,383 texels before it compares the sizes.
#[cfg(feature = "webp")]
#[test]
fn webp_frames_that_lie_about_their_size_are_not_decoded() {
    let mut bytes = include_bytes!("pictures/lossy_alpha.webp").to_vec();
    let frame = bytes.windows(4).position(|name| name == b"VP8 ").unwrap();
    bytes[frame + 14..frame + 18].fill(0x3F);
    let words = "image 0: replaced by a placeholder: cannot be decoded: a frame does not have the \
        size of the image (1)";
    told(&repaired(&with_image(&bytes)), &[words]);
}
