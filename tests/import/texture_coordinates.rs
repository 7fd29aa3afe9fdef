//! Texture coordinates that become `uvs` and `uvs1`, and their transforms.

use crate::builder::*;
use crate::help::*;
use crate::materials::textured;
use serde_json::{Value, json};
use throng::glam::{Affine2, Vec2};
use throng::mesh::{Material, Primitive};

const TEXTURES: [&str; 6] = [
    "/pbrMetallicRoughness/baseColorTexture",
    "/pbrMetallicRoughness/metallicRoughnessTexture",
    "/normalTexture",
    "/occlusionTexture",
    "/emissiveTexture",
    "/extras/throng_tint_mask",
];

/// A triangle with three sets of texture coordinates, all (n + 1, 0) in set n.
fn three_sets() -> Builder {
    let mut b = textured();
    for set in 0..3_u8 {
        let uvs = b.accessor("VEC2", F32, &[f32::from(set + 1), 0.0].repeat(3));
        let name = format!("TEXCOORD_{set}");
        b.json.pointer_mut(ATTRIBUTES).unwrap()[name] = json!(uvs);
    }
    b
}

/// The same with a material whose textures are over these sets, in their order.
fn over(sets: [Option<u64>; 6]) -> Builder {
    let mut b = three_sets();
    b.json["materials"][1] = json!({ "pbrMetallicRoughness": {}, "extras": {} });
    for (place, set) in TEXTURES.into_iter().zip(sets) {
        if let Some(set) = set {
            let info = json!({ "index": 0, "texCoord": set });
            b = changed(&b, &format!("/materials/1{place}"), info);
        }
    }
    b
}

/// The sets of the file in `uvs` and `uvs1`, or 0 for none.
fn streams(part: &Primitive) -> [u32; 2] {
    [&part.uvs, &part.uvs1].map(|uvs| {
        assert!(uvs.is_empty() || uvs.len() == part.vertex_count());
        uvs.first().map_or(0, |uv| uv.x as u32)
    })
}

fn sets(material: &Material) -> [Option<u32>; 6] {
    material.textures().map(|texture| Some(texture?.uv_set))
}

#[test]
fn two_sets_in_the_order_of_the_textures() {
    let none = None;
    let some = Some;
    for (file, expected, read) in [
        ([none; 6], [1, 0], [none; 6]),
        ([some(0); 6], [1, 0], [some(0); 6]),
        ([some(2); 6], [3, 0], [some(0); 6]),
        (
            [some(0), none, none, some(1), none, none],
            [1, 2],
            [some(0), none, none, some(1), none, none],
        ),
        (
            [some(2), some(0), some(2), some(0), some(2), some(0)],
            [3, 1],
            [some(0), some(1), some(0), some(1), some(0), some(1)],
        ),
        (
            [none, none, none, some(1), some(0), none],
            [2, 1],
            [none, none, none, some(0), some(1), none],
        ),
    ] {
        let c = import(&over(file.map(|set| set.map(u64::from))));
        assert_eq!(streams(&c.primitives()[0]), expected, "{file:?}");
        assert_eq!(sets(&c.materials()[1]), read, "{file:?}");
        told(&c, &[]);
    }
}

#[test]
fn textures_over_a_third_set_are_left_out() {
    let c = import(&over([
        Some(1),
        Some(0),
        Some(2),
        Some(0),
        Some(u64::MAX),
        None,
    ]));
    assert_eq!(streams(&c.primitives()[0]), [2, 1]);
    let material = &c.materials()[1];
    assert_eq!(
        sets(material),
        [Some(0), Some(1), None, Some(1), None, None]
    );
    told(
        &c,
        &[
            "material 1, normalTexture.texCoord: left out, because it is not supported (1)",
            "material 1, emissiveTexture.texCoord: left out, because it is not supported (1)",
        ],
    );
}

#[test]
fn textures_without_pixels_take_no_set() {
    let mut b = over([Some(0), Some(1), Some(2), None, None, None]);
    let other = b.add("textures", json!({}));
    let info = json!({ "index": other, "texCoord": 1 });
    let place = format!("/materials/1{}", TEXTURES[1]);
    let c = import(&changed(&b, &place, info));
    assert_eq!(streams(&c.primitives()[0]), [1, 3]);
    assert_eq!(
        sets(&c.materials()[1]),
        [Some(0), None, Some(1), None, None, None]
    );
    told(
        &c,
        &["texture 2: left out, because it is not supported (1)"],
    );
}

#[test]
fn absent_coordinates_are_told() {
    let b = over([Some(7), None, Some(1), None, None, None]);
    let c = import(&b);
    assert_eq!(streams(&c.primitives()[0]), [0, 2]);
    assert_eq!(
        sets(&c.materials()[1]),
        [Some(0), None, Some(1), None, None, None]
    );
    let words = "mesh 0, primitives[0].attributes.TEXCOORD_7: \
        texture coordinates that the material uses do not exist (1)";
    told(&c, &[words]);
    let mut b = over([None; 6]);
    b.json.pointer_mut(ATTRIBUTES).unwrap()["TEXCOORD_0"] = Value::Null;
    b.json
        .pointer_mut(ATTRIBUTES)
        .and_then(Value::as_object_mut)
        .unwrap()
        .remove("TEXCOORD_0");
    let c = import(&b);
    assert_eq!(streams(&c.primitives()[0]), [0, 0]);
    told(&c, &[]);
}

#[test]
fn each_primitive_takes_the_sets_of_its_material() {
    let mut b = over([Some(2), Some(1), None, None, None, None]);
    let mut other = b.json["meshes"][0]["primitives"][0].clone();
    other["material"] = json!(0);
    b.json["materials"][0] = json!({ "emissiveTexture": { "index": 0, "texCoord": 1 } });
    let list = b.json["meshes"][0]["primitives"].as_array_mut().unwrap();
    list.push(other.clone());
    other.as_object_mut().unwrap().remove("material");
    list.push(other);
    let c = import(&b);
    let all: Vec<_> = c.primitives().iter().map(streams).collect();
    assert_eq!(all, [[3, 2], [2, 0], [1, 0]]);
}

#[test]
fn transforms_are_kept_apart_from_the_coordinates() {
    let mut b = over([Some(0), Some(0), None, None, Some(2), None]);
    b.json["extensionsRequired"] = json!(["KHR_texture_transform"]);
    let moved = json!({ "texCoord": 1, "offset": [0.5, 0.25], "scale": [2, 4],
        "rotation": core::f32::consts::FRAC_PI_2 });
    for (place, moved) in [
        (TEXTURES[0], moved),
        (TEXTURES[1], json!({})),
        (TEXTURES[4], json!({ "scale": [3, 1] })),
    ] {
        let info = b.json.pointer_mut(&format!("/materials/1{place}")).unwrap();
        info["extensions"] = json!({ "KHR_texture_transform": moved });
    }
    let c = import(&b);
    // The base colour has the transform's set, then follows set 0. Set 2 is the third.
    assert_eq!(streams(&c.primitives()[0]), [2, 1]);
    let textures = c.materials()[1].textures();
    let [color, rough] = [textures[0].unwrap(), textures[1].unwrap()];
    assert_eq!(([color.uv_set, rough.uv_set], textures[4]), ([0, 1], None));
    // Scaled, then turned counter-clockwise where v points down, then moved.
    for (uv, expected) in [
        (Vec2::ZERO, Vec2::new(0.5, 0.25)),
        (Vec2::X, Vec2::new(0.5, -1.75)),
        (Vec2::Y, Vec2::new(4.5, 0.25)),
    ] {
        // One rounding of a cosine that is 4e-8 instead of 0, times 4.
        let moved = color.transform.transform_point2(uv);
        assert!(moved.abs_diff_eq(expected, 1e-6), "{moved}");
    }
    assert_eq!(rough.transform, Affine2::IDENTITY);
}

#[test]
fn vertices_that_differ_in_the_second_set_stay_apart() {
    let mut b = over([Some(0), None, None, Some(1), None, None]);
    let corners: Vec<f32> = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0_f32]].concat();
    let position = b.accessor("VEC3", F32, &corners.repeat(2));
    let first = b.accessor("VEC2", F32, &[0.0_f32; 12]);
    let mut values = [0.0_f32; 12];
    let mut count = |values: &[f32]| {
        let second = b.accessor("VEC2", F32, values);
        let attributes = json!({ "POSITION": position, "TEXCOORD_0": first, "TEXCOORD_1": second });
        import(&changed(&b, ATTRIBUTES, attributes)).vertex_count()
    };
    assert_eq!(count(&values), 3);
    values[11] = 0.5;
    assert_eq!(count(&values), 4);
}
