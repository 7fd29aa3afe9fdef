//! Materials of `KHR_materials_pbrSpecularGlossiness`.

use crate::builder::*;
use crate::help::*;
use serde_json::{Value, json};
use throng::import::Imported;
use throng::mesh::Material;

const GLOSSY: &str = "KHR_materials_pbrSpecularGlossiness";

/// A triangle with this extension, which the file requires.
fn glossy(extension: Value) -> Builder {
    let mut b = triangle();
    let view = b.view(&grey_png(2, 2));
    b.json["images"] = json!([{ "bufferView": view }]);
    b.json["textures"] = json!([{ "source": 0 }]);
    b.json["extensionsRequired"] = json!([GLOSSY]);
    b.json["materials"] = json!([{ "extensions": { GLOSSY: extension } }]);
    b.json["meshes"][0]["primitives"][0]["material"] = json!(0);
    let uvs = b.accessor("VEC2", F32, &[0.0_f32; 6]);
    b.json["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"] = json!(uvs);
    b
}

fn material(imported: &Imported) -> &Material {
    &imported.materials()[0]
}

const CONVERTED: &str = "material 0, extensions.KHR_materials_pbrSpecularGlossiness: converted to \
    metalness and roughness (1)";

#[test]
fn factors_are_converted() {
    let near = |got: [f32; 3], want: [f32; 3]| {
        let far = got
            .iter()
            .zip(want)
            .any(|(got, want)| (got - want).abs() > 2e-3);
        assert!(!far, "{got:?} {want:?}");
    };
    // A non-metal keeps its colour: 0.04 is its reflectance.
    let c = repaired(&glossy(json!({ "diffuseFactor": [0.5, 0.25, 0.125, 0.75],
        "specularFactor": [0.04, 0.04, 0.04], "glossinessFactor": 0.25 })));
    told(&c, &[CONVERTED]);
    let m = material(&c);
    near(
        [m.base_color[0], m.base_color[1], m.base_color[2]],
        [0.5, 0.25, 0.125],
    );
    assert!(m.metallic < 1e-3 && m.roughness == 0.75 && m.base_color[3] == 0.75);
    // A metal has its colour in the reflection.
    let c = repaired(&glossy(json!({ "diffuseFactor": [0, 0, 0, 1],
        "specularFactor": [0.9, 0.6, 0.3] })));
    let m = material(&c);
    near(
        [m.base_color[0], m.base_color[1], m.base_color[2]],
        [0.9, 0.6, 0.3],
    );
    assert!(m.metallic > 0.999 && m.roughness == 0.0);
    // The defaults: a perfect mirror.
    let c = repaired(&glossy(json!({})));
    let m = material(&c);
    assert!(m.base_color.iter().all(|c| *c > 0.999) && m.metallic > 0.999);
    assert_eq!(m.roughness, 0.0);
    // Out of range.
    let c = repaired(&glossy(json!({ "glossinessFactor": -1.0 })));
    assert_eq!(material(&c).roughness, 1.0);
}

#[test]
fn the_diffuse_texture_becomes_the_base_colour() {
    let c = repaired(&glossy(json!({ "diffuseTexture": { "index": 0 },
        "specularGlossinessTexture": { "index": 0 } })));
    let left_out = "material 0, extensions.KHR_materials_pbrSpecularGlossiness.\
        specularGlossinessTexture: left out, because it is not supported (1)";
    told(&c, &[CONVERTED, left_out]);
    let m = material(&c);
    assert_eq!(m.base_color_texture.map(|texture| texture.image), Some(0));
    assert_eq!((m.metallic, m.roughness), (0.0, 0.5));
    let words = refused(&glossy(json!({ "diffuseTexture": { "index": 7 } })).glb());
    let start = "f: material 0, extensions.KHR_materials_pbrSpecularGlossiness.diffuseTexture";
    words.says(format!("{start}…"));
}

#[test]
fn metalness_and_roughness_of_the_file_are_preferred() {
    let mut b = glossy(json!({ "diffuseFactor": [1, 0, 0, 1] }));
    b.json["materials"][0]["pbrMetallicRoughness"] = json!({ "metallicFactor": 0.25 });
    let c = repaired(&b);
    told(
        &c,
        &[
            "material 0, extensions.KHR_materials_pbrSpecularGlossiness: left out, because it \
        is not supported (1)",
        ],
    );
    assert_eq!(
        (material(&c).metallic, material(&c).base_color),
        (0.25, [1.0; 4])
    );
}

#[test]
fn factors_that_are_not_finite_are_refused_by_their_own_names() {
    for (factors, part) in [
        (json!({ "diffuseFactor": [1, 1e39, 0, 1] }), "diffuseFactor"),
        (json!({ "specularFactor": [1e39, 0, 0] }), "specularFactor"),
        (json!({ "glossinessFactor": 1e39 }), "glossinessFactor"),
    ] {
        let words = refused(&glossy(factors).glb());
        assert!(words.contains(part) && words.contains("finite"), "{words}");
        words.says("f: material 0, extensions.…");
    }
}
