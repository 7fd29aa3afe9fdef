//! Materials that are refused or repaired.

use crate::builder::*;
use crate::help::*;
use crate::materials::textured;
use crate::reference::cases;
use serde_json::{Value, json};
use throng::import::Imported;
use throng::mesh::AlphaMode;

/// The textured triangle with a value of its material replaced.
fn with_value(path: &str, value: Value) -> Builder {
    let mut b = textured();
    b.json["materials"][1]["alphaMode"] = json!("MASK");
    b.json["materials"][1]["normalTexture"] = json!({ "index": 0 });
    b.json["materials"][1]["occlusionTexture"] = json!({ "index": 0 });
    b.json["materials"][1]["extensions"] = json!({ "KHR_materials_emissive_strength": {} });
    changed(&b, &format!("/materials/1/{path}"), value)
}

const STRENGTH: &str = "extensions/KHR_materials_emissive_strength/emissiveStrength";

#[test]
fn factors_that_are_not_finite() {
    for (path, part) in [
        ("pbrMetallicRoughness/metallicFactor", "metallicFactor"),
        ("pbrMetallicRoughness/roughnessFactor", "roughnessFactor"),
        ("normalTexture/scale", "normalTexture.scale"),
        ("occlusionTexture/strength", "occlusionTexture.strength"),
        ("alphaCutoff", "alphaCutoff"),
        (
            STRENGTH,
            "extensions.KHR_materials_emissive_strength.emissiveStrength",
        ),
    ] {
        refused(&with_value(path, json!(-1e39)).glb()).says(format!(
            "f: material 1, {part}: component 0 is -inf, must be finite"
        ));
    }
    refused(&with_value("emissiveFactor", json!([0, 1e39, 0])).glb())
        .says("f: material 1, emissiveFactor: component 1 is inf, must be finite");
    let mut b = with_value("emissiveFactor", json!([0, 0, 1e30]));
    b = changed(&b, &format!("/materials/1/{STRENGTH}"), json!(1e30));
    refused(&b.glb()).says("f: material 1, emissiveFactor: component 2 is inf, must be finite");
}

#[test]
fn factors_out_of_range_are_clamped() {
    let clamped = |path: &str, value: Value, part: &str, count: usize| -> Imported {
        let c = import(&with_value(path, value));
        let words = format!("material 1, {part}: out-of-range factors clamped ({count})");
        told(&c, &[&words]);
        c
    };
    let place = "pbrMetallicRoughness/baseColorFactor";
    let c = clamped(place, json!([-0.5, 2, 0.5, 1.5]), "baseColorFactor", 3);
    assert_eq!(c.materials()[1].base_color, [0.0, 1.0, 0.5, 1.0]);
    for (value, expected) in [(-0.5, 0.0), (1.25, 1.0)] {
        let path = "pbrMetallicRoughness/metallicFactor";
        let c = clamped(path, json!(value), "metallicFactor", 1);
        assert_eq!(c.materials()[1].metallic, expected);
        let path = "pbrMetallicRoughness/roughnessFactor";
        let c = clamped(path, json!(value), "roughnessFactor", 1);
        assert_eq!(c.materials()[1].roughness, expected);
        let part = "occlusionTexture.strength";
        let c = clamped("occlusionTexture/strength", json!(value), part, 1);
        assert_eq!(c.materials()[1].occlusion_strength, expected);
    }
    let c = clamped("emissiveFactor", json!([-1, 0.5, -2]), "emissiveFactor", 2);
    assert_eq!(c.materials()[1].emissive, [0.0, 0.5, 0.0]);
    let c = clamped("alphaCutoff", json!(-1), "alphaCutoff", 1);
    assert_eq!(c.materials()[1].alpha, AlphaMode::Mask { cutoff: 0.0 });
    let part = "extensions.KHR_materials_emissive_strength.emissiveStrength";
    clamped(STRENGTH, json!(-2), part, 1);
    for (path, value) in [
        ("alphaCutoff", json!(1.5)),
        ("emissiveFactor", json!([0, 0, 12.5])),
        ("normalTexture/scale", json!(-3)),
        (STRENGTH, json!(1000)),
    ] {
        told(&import(&with_value(path, value)), &[]);
    }
}

#[test]
fn modes_and_forms_that_are_not_allowed() {
    for (case, path, value, words) in cases![
        "alphaMode", json!("mask")
            => "alphaMode: the alpha mode is mask, which is not allowed here (OPAQUE, MASK, BLEND)";
        "alphaMode", json!(1) => "alphaMode: must be a string, but is 1";
        "alphaCutoff", json!("0.5") => "alphaCutoff: must be a number, but is the string";
        "emissiveFactor", json!([1, 1])
            => "emissiveFactor: must be an array of 3 elements, but has 2";
        "pbrMetallicRoughness/metallicFactor", json!([1])
            => "pbrMetallicRoughness.metallicFactor: must be a number";
        "normalTexture", json!({}) => "normalTexture: missing field \"index\"";
        "extensions", json!([]) => "extensions: must be an object, but is an array";
        STRENGTH, json!("x")
            => "extensions.KHR_materials_emissive_strength.emissiveStrength: must be a number, \
                but is the string";
    ] {
        refused(&with_value(path, value).glb()).says_in(case, format!("f: material 1, {words}…"));
    }
    for place in [
        "pbrMetallicRoughness/baseColorTexture",
        "pbrMetallicRoughness/metallicRoughnessTexture",
        "normalTexture",
        "occlusionTexture",
        "emissiveTexture",
    ] {
        let part = place.replace('/', ".");
        refused(&with_value(place, json!({ "index": 2 })).glb()).says(format!(
            "f: material 1, {part}.index: refers to texture 2, but there are 2"
        ));
        let moved = |transform| {
            let info = json!({ "index": 0, "extensions": { "KHR_texture_transform": transform } });
            refused(&with_value(place, info).glb())
        };
        let name = part.rsplit('.').next().unwrap();
        for transform in [
            json!({ "offset": [0, 1e39] }),
            json!({ "scale": [-1e39, 1] }),
            json!({ "rotation": 1e39 }),
        ] {
            let words = "has a component that is not finite";
            let expected = format!("f: material 1, {name}.transform: {words}");
            assert_eq!(moved(transform), expected);
        }
    }
}
