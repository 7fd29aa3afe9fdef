//! The caps of the options.

use crate::builder::*;
use crate::help::*;
use serde_json::json;
use throng::Error;
use throng::error::AssetFault;
use throng::import::{ImportLimits, ImportOptions};

#[test]
fn a_tiny_file_cannot_claim_much() {
    let b = changed(
        &triangle(),
        "/accessors/0",
        json!({
        "componentType": F32, "type": "VEC3", "count": 3_999_999_999_u64 }),
    );
    refused(&b.glb())
        .says("f: mesh 0, primitives[0]: vertices: 3999999999 exceeds the limit of 4194304");
    let mut b = arm();
    b.json["accessors"][3] =
        json!({ "componentType": U8, "type": "SCALAR", "count": 3_999_999_999_u64 });
    refused(&b.glb()).says("…triangle indices: 3999999999 exceeds the limit…");
    let mut b = arm();
    b.json["accessors"][5] = json!({ "componentType": F32, "type": "SCALAR", "count": u64::MAX });
    refused(&b.glb()).says("…keys: 18446744073709551615 exceeds the limit…");
}

#[test]
fn every_cap_is_kept() {
    type Set = fn(&mut ImportOptions);
    let sets: [(Set, &str); 8] = [
        (|o| o.limits.text_bytes = 100, "bytes of JSON: "),
        (|o| o.limits.nodes = 3, "nodes: 4 exceeds the limit of 3"),
        (
            |o| o.limits.primitives = 0,
            "primitives: 1 exceeds the limit of 0",
        ),
        (
            |o| o.limits.vertices = 5,
            "vertices: 6 exceeds the limit of 5",
        ),
        (
            |o| o.limits.indices = 11,
            "triangle indices: 12 exceeds the limit of 11",
        ),
        (|o| o.limits.keys = 2, "keys: 3 exceeds the limit of 2"),
        (|o| o.limits.decoded_bytes = 500, "bytes of decoded data: "),
        (|o| o.limits.resource_bytes = 100, "bytes of one resource: "),
    ];
    for (set, words) in sets {
        let mut options = options();
        set(&mut options);
        let error = throng_import::bytes(&arm().gltf(), &options).unwrap_err();
        let Error::Asset {
            why: AssetFault::Cap { asked, cap, .. },
            ..
        } = error
        else {
            panic!("{error}");
        };
        assert!(asked > cap && error.to_string().contains(words), "{error}");
    }
    let mut b = triangle();
    b.json["images"] = json!([{ "uri": format!("data:,{}", "x".repeat(1000)) }]);
    b.json["textures"] = json!([{ "source": 0 }]);
    b.json["materials"] =
        json!([{ "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } } }]);
    b.json["meshes"][0]["primitives"][0]["material"] = json!(0);
    let mut options = options();
    options.limits.resource_bytes = 300;
    throng_import::bytes(&b.glb(), &options).fails("…exceeds the limit of 300…");
}

/// The targets of a mesh count once for each node with the mesh, however few bytes they take.
#[test]
fn shared_morph_targets_count_for_each_part() {
    let mut b = triangle();
    b.json["meshes"][0]["primitives"][0]["targets"] = json!([{}, {}]);
    b.json["nodes"] = json!([{ "mesh": 0 }, { "mesh": 0 }, { "mesh": 0 }]);
    b.json["scenes"] = json!([{ "nodes": [0, 1, 2] }]);
    let import = |max_morph_targets, b: &Builder| {
        let options = ImportOptions {
            limits: ImportLimits {
                morph_targets: max_morph_targets,
                ..ImportLimits::default()
            },
            ..options()
        };
        throng_import::bytes(&b.glb(), &options).map_err(|error| error.to_string())
    };
    let made = import(6, &b).unwrap();
    assert_eq!(made.morph_weights().len(), 6);
    import(5, &b).fails("f: node 2, weights: morph weights: 6 exceeds the limit of 5");
    // Two primitives: as many targets as weights twice.
    let again = b.json["meshes"][0]["primitives"][0].clone();
    b.json["meshes"][0]["primitives"] = json!([again, again]);
    import(11, &b).fails("f: mesh 0, primitives[1]: morph targets: 12 exceeds the limit of 11");
    import(12, &b).unwrap();
}
