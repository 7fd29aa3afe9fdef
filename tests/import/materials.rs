//! Base colours, textures and images.

use crate::builder::*;
use crate::help::*;
use serde_json::json;
use throng::character::{Filter, Wrap};
use throng::glam::Vec2;
use throng::import::RepairKind;

fn png(shade: u8) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let pixels = image::RgbImage::from_pixel(3, 2, image::Rgb([shade, 20, 30]));
    pixels
        .write_to(&mut bytes, image::ImageFormat::Png)
        .unwrap();
    bytes.into_inner()
}

fn textured() -> Builder {
    let mut b = triangle();
    let view = b.view(&png(10));
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
        (texture.sampler.wrap_u, texture.sampler.wrap_v),
        (Wrap::Clamp, Wrap::Mirror)
    );
    assert_eq!(
        (texture.sampler.magnify, texture.sampler.minify),
        (Filter::Nearest, Filter::Linear)
    );
    assert_eq!(texture.sampler.mip, Some(Filter::Nearest));
    let image = &c.images()[0];
    assert_eq!((&*image.name, image.width, image.height), ("Coat", 3, 2));
    assert_eq!(image.rgba, [10, 20, 30, 255].repeat(6));
    assert_eq!(c.materials()[0].base_color_texture, None);
}

#[test]
fn jpeg_and_data_uris_and_16_bit_png() {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let pixels = image::RgbImage::from_pixel(16, 8, image::Rgb([200, 100, 50]));
    pixels
        .write_to(&mut bytes, image::ImageFormat::Jpeg)
        .unwrap();
    let mut b = textured();
    let uri = |data: &[u8]| format!("data:image/jpeg;base64,{}", base64(data));
    b.json["images"][1] = json!({ "uri": uri(&bytes.into_inner()) });
    let c = import(&b);
    assert_eq!((c.images()[0].width, c.images()[0].height), (16, 8));
    assert!(c.images()[0].rgba[0].abs_diff(200) < 6);
    let mut bytes = std::io::Cursor::new(Vec::new());
    let deep = image::ImageBuffer::<image::Luma<u16>, _>::from_pixel(2, 2, image::Luma([0x8080]));
    deep.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    b.json["images"][1] = json!({ "uri": uri(&bytes.into_inner()) });
    assert_eq!(import(&b).images()[0].rgba[..4], [0x80, 0x80, 0x80, 255]);
}

#[test]
fn the_textures_own_set_of_coordinates_and_its_transform() {
    let mut b = textured();
    let zero = b.accessor("VEC2", F32, &[0.0_f32; 6]);
    let one = b.accessor("VEC2", F32, &[1.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0]);
    let attributes = &mut b.json["meshes"][0]["primitives"][0]["attributes"];
    attributes["TEXCOORD_0"] = json!(zero);
    attributes["TEXCOORD_1"] = json!(one);
    let info = |b: &mut Builder, info| {
        b.json["materials"][1]["pbrMetallicRoughness"]["baseColorTexture"] = info;
    };
    info(&mut b, json!({ "index": 0, "texCoord": 1 }));
    assert_eq!(import(&b).primitives()[0].uvs[0], Vec2::X);
    b.json["extensionsRequired"] = json!(["KHR_texture_transform"]);
    info(
        &mut b,
        json!({ "index": 0, "extensions": { "KHR_texture_transform": {
        "texCoord": 1, "offset": [0.5, 0.25], "scale": [2, 4],
        "rotation": std::f32::consts::FRAC_PI_2 } } }),
    );
    let c = import(&b);
    // Scaled, then turned counter-clockwise where v points down, then moved.
    assert!(c.primitives()[0].uvs[0].abs_diff_eq(Vec2::new(0.5, -1.75), 1e-6));
    assert!(c.primitives()[0].uvs[1].abs_diff_eq(Vec2::new(4.5, 0.25), 1e-6));
}

#[test]
fn a_texture_that_only_an_extension_defines_is_left_out() {
    let mut b = textured();
    b.json["textures"][0] = json!({ "extensions": { "KHR_texture_basisu": { "source": 1 } } });
    let c = import(&b);
    assert_eq!(c.materials()[1].base_color_texture, None);
    assert!(has(&c, RepairKind::LeftOut, 1));
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
    assert_eq!(c.materials()[2], throng::character::Material::default());
}

#[test]
fn what_is_not_read_of_materials_in_use_is_told() {
    let mut b = textured();
    for mode in ["MASK", "BLEND"] {
        b.json["materials"][0]["alphaMode"] = json!(mode);
        b.json["materials"][1]["alphaMode"] = json!(mode);
        let c = import(&b);
        told(&c, &["material 1, alphaMode: left out: not supported (1)"]);
        assert!(c.materials()[1].base_color_texture.is_some());
    }
    b.json["materials"][1]["alphaMode"] = json!("OPAQUE");
    told(&import(&b), &[]);
    let glossy = json!({ "KHR_materials_pbrSpecularGlossiness": {
        "diffuseFactor": [0, 0, 0, 1], "diffuseTexture": { "index": 77 } } });
    b.json["materials"][0]["extensions"] = glossy.clone();
    b.json["materials"][1]["extensions"] = json!({ "KHR_materials_unlit": {} });
    told(&import(&b), &[]);
    b.json["materials"][1]["extensions"] = glossy;
    let words =
        "material 1, extensions.KHR_materials_pbrSpecularGlossiness: left out: not supported (1)";
    told(&import(&b), &[words]);
    b.json["extensionsRequired"] = json!(["KHR_materials_pbrSpecularGlossiness"]);
    assert!(refused(&b.glb()).contains("requires KHR_materials_pbrSpecularGlossiness"));
}
