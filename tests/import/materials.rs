//! Materials, textures and images.

use crate::builder::*;
use crate::help::*;
use serde_json::{Value, json};
use throng::character::{Character, LoadOptions};
use throng::import::RepairKind;
use throng::mesh::{AlphaMode, Filter, Material, TextureRef, Wrap};

fn shaded_png(shade: u8) -> Vec<u8> {
    let texels = [shade, 20, 30].repeat(6);
    png((3, 2), png::ColorType::Rgb, png::BitDepth::Eight, &texels)
}

/// A triangle with texture coordinates and a material of one texture, and one of each unused.
pub(crate) fn textured() -> Builder {
    let mut b = triangle();
    let uvs = b.accessor("VEC2", F32, &[0.0_f32; 6]);
    b.json["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"] = json!(uvs);
    let view = b.view(&shaded_png(10));
    b.add("images", json!({ "name": "Unused", "uri": "nowhere.png" }));
    b.add(
        "images",
        json!({ "name": "Coat", "bufferView": view, "mimeType": "image/jpeg" }),
    );
    b.add(
        "samplers",
        json!({ "magFilter": 9728, "minFilter": 9985, "wrapS": 33071, "wrapT": 33648 }),
    );
    b.add("textures", json!({ "source": 1, "sampler": 0 }));
    b.add("textures", json!({ "source": 0 }));
    b.add(
        "materials",
        json!({ "name": "Unused", "pbrMetallicRoughness": {
        "baseColorTexture": { "index": 1 } } }),
    );
    b.add(
        "materials",
        json!({ "name": "Coat", "doubleSided": true, "pbrMetallicRoughness": {
        "baseColorFactor": [0.1, 0.2, 0.3, 0.4], "baseColorTexture": { "index": 0 } } }),
    );
    b.json["meshes"][0]["primitives"][0]["material"] = json!(1);
    b
}

#[test]
fn materials_and_textures() {
    let c = import(&textured());
    assert_eq!((c.materials().len(), c.primitives()[0].material), (2, 1));
    let coat = &c.materials()[1];
    assert_eq!(
        (&*coat.name, coat.base_color, coat.double_sided),
        ("Coat", [0.1, 0.2, 0.3, 0.4], true)
    );
    let texture = coat.base_color_texture.unwrap();
    assert_eq!(
        (texture.image, c.images().len()),
        (0, 1),
        "only what is used is decoded"
    );
    assert_eq!(
        (texture.wrap_u, texture.wrap_v),
        (Wrap::Clamp, Wrap::Mirror)
    );
    assert_eq!(
        (texture.magnify, texture.minify),
        (Filter::Nearest, Filter::Linear)
    );
    assert_eq!(texture.mip, Some(Filter::Nearest));
    let image = &c.images()[0];
    assert_eq!((&*image.name, image.width, image.height), ("Coat", 3, 2));
    assert_eq!(image.rgba().unwrap(), [10, 20, 30, 255].repeat(6));
    assert_eq!(c.materials()[0].base_color_texture, None);
}

#[test]
fn every_factor_texture_and_flag_is_read() {
    let mut b = textured();
    for source in [1, 2, 1, 2] {
        b.add("textures", json!({ "source": source }));
    }
    let view = b.view(&shaded_png(20));
    b.add("images", json!({ "name": "Other", "bufferView": view }));
    b.json["extensionsRequired"] =
        json!(["KHR_materials_emissive_strength", "KHR_materials_unlit"]);
    b.json["materials"][1] = json!({
        "name": "All",
        "pbrMetallicRoughness": {
            "baseColorFactor": [0.1, 0.2, 0.3, 0.4],
            "baseColorTexture": { "index": 0 },
            "metallicFactor": 0.25,
            "roughnessFactor": 0.75,
            "metallicRoughnessTexture": { "index": 2 },
        },
        "normalTexture": { "index": 3, "scale": -2.5 },
        "occlusionTexture": { "index": 4, "strength": 0.5 },
        "emissiveTexture": { "index": 5 },
        "emissiveFactor": [0.25, 0.5, 1],
        "alphaMode": "MASK",
        "alphaCutoff": 0.125,
        "doubleSided": true,
        "extensions": {
            "KHR_materials_emissive_strength": { "emissiveStrength": 8 },
            "KHR_materials_unlit": {},
        },
    });
    let c = import(&b);
    let first = c.materials()[1].base_color_texture.unwrap();
    assert_eq!(first.wrap_v, Wrap::Mirror);
    let expected = TextureRef {
        wrap_u: first.wrap_u,
        wrap_v: first.wrap_v,
        magnify: first.magnify,
        minify: first.minify,
        mip: first.mip,
        ..TextureRef::new(0)
    };
    assert_eq!(first, expected);
    let expected = Material {
        name: "All".into(),
        base_color: [0.1, 0.2, 0.3, 0.4],
        base_color_texture: Some(first),
        metallic: 0.25,
        roughness: 0.75,
        metallic_roughness_texture: Some(TextureRef::new(0)),
        normal_texture: Some(TextureRef::new(1)),
        normal_scale: -2.5,
        occlusion_texture: Some(TextureRef::new(0)),
        occlusion_strength: 0.5,
        emissive: [2.0, 4.0, 8.0],
        emissive_texture: Some(TextureRef::new(1)),
        alpha: AlphaMode::Mask { cutoff: 0.125 },
        unlit: true,
        double_sided: true,
        ..Material::default()
    };
    assert_eq!(c.materials()[1], expected);
    let names: Vec<_> = c.images().iter().map(|image| &*image.name).collect();
    assert_eq!(names, ["Coat", "Other"], "each decoded once");
    told(&c, &[]);
}

#[test]
fn what_a_material_does_not_say_has_the_formats_defaults() {
    let mut b = triangle();
    b.json["meshes"][0]["primitives"][0]["material"] = json!(0);
    let read = |b: &Builder| import(b).materials()[0].clone();
    let default = Material {
        metallic: 1.0,
        ..Material::default()
    };
    for empty in [
        json!({}),
        json!({ "pbrMetallicRoughness": {}, "extensions": {} }),
    ] {
        b.json["materials"] = json!([empty]);
        assert_eq!(read(&b), default);
    }
    for (mode, alpha) in [
        ("OPAQUE", AlphaMode::Opaque),
        ("MASK", AlphaMode::Mask { cutoff: 0.5 }),
        ("BLEND", AlphaMode::Blend),
    ] {
        b.json["materials"] = json!([{ "alphaMode": mode }]);
        assert_eq!(read(&b).alpha, alpha);
    }
    b.json["materials"] = json!([{ "alphaMode": "BLEND", "alphaCutoff": 0.75 }]);
    assert_eq!(
        read(&b).alpha,
        AlphaMode::Blend,
        "the cutoff does not count"
    );
    b.json["materials"] = json!([{ "emissiveFactor": [1, 0.5, 0] }]);
    assert_eq!(read(&b).emissive, [1.0, 0.5, 0.0]);
    for nothing in [json!(null), json!({})] {
        b.json["materials"] = json!([{ "emissiveFactor": [1, 0.5, 0],
            "extensions": { "KHR_materials_emissive_strength": nothing } }]);
        assert_eq!(read(&b).emissive, [1.0, 0.5, 0.0]);
    }
}

#[test]
fn jpeg_and_data_uris_and_16_bit_png() {
    let jpeg = include_bytes!("pictures/baseline.jpg");
    let mut b = textured();
    let uri = |data: &[u8]| format!("data:image/jpeg;base64,{}", base64(data));
    b.json["images"][1] = json!({ "uri": uri(jpeg) });
    let c = import(&b);
    assert_eq!((c.images()[0].width, c.images()[0].height), (23, 17));
    assert!(c.images()[0].rgba().unwrap()[0].abs_diff(255) < 6);
    let (grey, sixteen) = (png::ColorType::Grayscale, png::BitDepth::Sixteen);
    let deep = png((2, 2), grey, sixteen, &[0x80; 8]);
    b.json["images"][1] = json!({ "uri": uri(&deep) });
    assert_eq!(
        import(&b).images()[0].rgba().unwrap()[..4],
        [0x80, 0x80, 0x80, 255]
    );
}

#[test]
fn a_texture_without_an_image_is_left_out() {
    let mut b = textured();
    for extension in ["EXT_texture_other", "KHR_texture_basisu"] {
        b.json["textures"][0] = json!({ "extensions": { extension: {} } });
        let c = import(&b);
        assert_eq!(c.materials()[1].base_color_texture, None);
        assert!(has(&c, RepairKind::LeftOut, 1));
    }
}

#[test]
fn primitives_without_a_material_get_the_default() {
    let mut b = textured();
    b.json["meshes"][0]["primitives"][0]
        .as_object_mut()
        .unwrap()
        .remove("material");
    let c = import(&b);
    assert_eq!((c.materials().len(), c.primitives()[0].material), (3, 2));
    let expected = Material {
        metallic: 1.0,
        ..Material::default()
    };
    assert_eq!(c.materials()[2], expected, "the format's own");
    b.json.as_object_mut().unwrap().remove("materials");
    b.json["meshes"][0]["primitives"][0]["attributes"] = json!({ "POSITION": 0 });
    assert_eq!(import(&b).materials(), [expected]);
}

#[test]
fn what_is_not_read_of_materials_in_use_is_told() {
    let mut b = textured();
    b.json["materials"][0]["extensions"] = json!({ "KHR_materials_ior": {} });
    b.json["materials"][1]["extensions"] = json!({ "KHR_materials_unlit": {} });
    told(&import(&b), &[]);
    let (coat, sheen) = ("KHR_materials_clearcoat", "KHR_materials_sheen");
    b.json["extensionsRequired"] = json!([coat, sheen]);
    b.json["materials"][1]["extensions"] =
        json!({ coat: { "clearcoatFactor": 1 }, sheen: null, "EXT_other": {} });
    let words =
        "material 1, extensions.KHR_materials_clearcoat: left out, because it is not supported (1)";
    told(&import(&b), &[words]);
}

/// The textured triangle with a green material, and variants `green`, `plain` and `bare`, of which
/// the last changes nothing.
fn with_variants() -> Builder {
    let mut b = textured();
    b.add(
        "materials",
        json!({ "name": "Green", "pbrMetallicRoughness": { "baseColorFactor": [0, 1, 0, 1] } }),
    );
    b.json["extensions"] = json!({ VARIANTS: { "variants": [
        { "name": "green" }, { "name": "plain" }, { "name": "bare" }] } });
    b.json["extensionsUsed"] = json!([VARIANTS]);
    b.json["extensionsRequired"] = json!([VARIANTS]);
    b.json["meshes"][0]["primitives"][0]["extensions"] = json!({ VARIANTS: { "mappings": [
        { "material": 0, "variants": [1] }, { "material": 2, "variants": [0] }] } });
    b
}

/// glTF has no tints, so they are in the extras. What has another form is left out.
#[test]
fn tints_are_read_from_extras() {
    let mut b = textured();
    b.json["materials"][1]["extras"] = json!({
        "throng_tint_weights": [0.25, 2],
        "throng_tint_reference": [0.5, 0.25, 0],
        "throng_tint_mask": { "index": 0 },
    });
    let c = import(&b);
    let material = &c.materials()[1];
    assert_eq!(material.tint_weights, [0.25, 1.0]);
    let least = Material::MIN_TINT_REFERENCE;
    assert_eq!(material.tint_reference, [0.5, 0.25, least]);
    let image = |texture: Option<TextureRef>| texture.map(|it| it.image);
    assert!(material.tint_mask.is_some());
    assert_eq!(
        image(material.tint_mask),
        image(material.base_color_texture)
    );
    told(
        &c,
        &[
            "material 1, tintWeights: out-of-range factors clamped (1)",
            "material 1, tintReference: out-of-range factors clamped (1)",
        ],
    );
    // Saved files have them, and those without tints are as before.
    let bytes = c.to_bytes();
    let loaded = Character::from_bytes(&bytes, &LoadOptions::default()).unwrap();
    assert_eq!(loaded, c.character);
    let has = |bytes: &[u8]| bytes.windows(6).any(|at| at == b"tints\0");
    assert!(has(&bytes) && !has(&import(&textured()).to_bytes()));
    let no_images = LoadOptions {
        images: false,
        ..LoadOptions::default()
    };
    let bare = Character::from_bytes(&bytes, &no_images).unwrap();
    assert_eq!(bare.materials()[1].tint_mask, None);
    assert_eq!(bare.materials()[1].tint_weights, [0.25, 1.0]);

    b.json["materials"][1]["extras"] = json!({
        "throng_tint_weights": [1, 2, 3],
        "throng_tint_reference": "grey",
        "throng_tint_mask": { "index": 99 },
        "other": null,
    });
    let c = import(&b);
    assert_eq!(c.materials()[1].tint_mask, None);
    assert_eq!(c.materials()[1].tint_weights, [1.0, 0.0]);
    told(
        &c,
        &[
            "material 1, extras.throng_tint_weights: left out, because it is not supported (1)",
            "material 1, extras.throng_tint_reference: left out, because it is not supported (1)",
            "material 1, extras.throng_tint_mask: left out, because it is not supported (1)",
        ],
    );
    b.json["materials"][1]["extras"] = json!("a note");
    told(&import(&b), &[]);
}

const VARIANTS: &str = "KHR_materials_variants";

#[test]
fn variants_have_names_and_materials() {
    let mut b = with_variants();
    // Variant materials are in use, so their images are read.
    b.json["images"][0] = b.json["images"][1].clone();
    let c = import(&b);
    told(&c, &[]);
    let names: Vec<&str> = c.variants().iter().map(|it| &*it.name).collect();
    assert_eq!(names, ["green", "plain", "bare"]);
    let material = |name| c.primitives()[0].material_in(Some(c.variant(name).unwrap()));
    assert_eq!(["green", "plain", "bare"].map(material), [2, 0, 1]);
    assert_eq!(c.primitives()[0].material_in(None), 1);
    assert!(c.materials()[0].base_color_texture.is_some());
    assert!(c.variant("blue").unwrap_err().to_string().contains("plain"));
    // Saved files have them, and those without variants are as before.
    let bytes = c.to_bytes();
    let loaded = Character::from_bytes(&bytes, &LoadOptions::default()).unwrap();
    assert_eq!(loaded, c.character);
    let has = |bytes: &[u8]| bytes.windows(8).any(|at| at == b"variants");
    assert!(has(&bytes) && !has(&import(&textured()).to_bytes()));
}

#[test]
fn variants_that_do_not_fit_are_refused_or_left_out() {
    let b = with_variants();
    let mapping = format!("/meshes/0/primitives/0/extensions/{VARIANTS}/mappings/1");
    let part = format!("f: mesh 0, primitives[0].extensions.{VARIANTS}.mappings[1]");
    with(&b, &format!("{mapping}/material"), json!(3)).says(format!(
        "{part}.material: refers to material 3, but there are 3"
    ));
    with(&b, &format!("{mapping}/variants"), json!([0, 3])).says(format!(
        "{part}.variants: refers to variant 3, but there are 3"
    ));
    with(&b, &format!("{mapping}/variants"), json!([0, 1]))
        .says("f: mesh 0, primitives[0].variants[2]: gives a variant a second material");
    with(&b, "/extensions", Value::Null).says(format!(
        "f: mesh 0, primitives[0].extensions.{VARIANTS}.mappings[0].variants: …"
    ));
    // Its texture uses coordinates that the primitive does not read.
    let mut other = b;
    other.json["materials"][2]["pbrMetallicRoughness"]["baseColorTexture"] =
        json!({ "index": 0, "texCoord": 1 });
    other.json["images"][0] = other.json["images"][1].clone();
    let c = import(&other);
    assert!(has(&c, RepairKind::LeftOut, 1));
    let green = c.variant("green").unwrap();
    assert_eq!(c.primitives()[0].material_in(Some(green)), 1);
}
