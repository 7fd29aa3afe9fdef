//! What the importer refuses, with the words it does so in, and what it repairs.
#![cfg(feature = "gltf")]

mod common {
    pub(crate) mod gltf_builder;
}

use common::gltf_builder::{Builder, F32, I16, U8, U16, U32, arm, glb, triangle};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use throng::character::TrackValues;
use throng::glam::{Quat, Vec3};
use throng::import::{ImportOptions, Imported, RepairKind, gltf, gltf_file, gltf_with};
use throng::{Error, error::AssetFault};

fn options() -> ImportOptions {
    let mut options = ImportOptions::default();
    options.name = "f".into();
    options
}

/// The error's words for a file.
#[track_caller]
fn refused(bytes: &[u8]) -> String {
    match gltf(bytes, &options()) {
        Ok(_) => panic!("it was imported"),
        Err(error) => {
            assert!(matches!(error, Error::Asset { .. }), "{error:?}");
            error.to_string()
        }
    }
}

/// The error's words after a value of the arm was replaced (or, by null, removed).
#[track_caller]
fn with(b: &Builder, path: &str, value: Value) -> String {
    refused(&changed(b, path, value).glb())
}

fn changed(b: &Builder, path: &str, value: Value) -> Builder {
    let mut b = b.clone();
    let (parent, key) = path.rsplit_once('/').unwrap();
    let parent = b.json.pointer_mut(parent).unwrap();
    match (parent, value) {
        (Value::Object(map), Value::Null) => drop(map.remove(key)),
        (Value::Object(map), value) => drop(map.insert(key.into(), value)),
        (Value::Array(list), value) => list[key.parse::<usize>().unwrap()] = value,
        _ => panic!("{path}"),
    }
    b
}

fn repaired(b: &Builder) -> Imported {
    gltf(&b.glb(), &options()).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn told(imported: &Imported, expected: &[&str]) {
    let told: Vec<_> = imported.repairs.iter().map(ToString::to_string).collect();
    assert_eq!(told, expected);
}

const ATTRIBUTES: &str = "/meshes/0/primitives/0/attributes";

// The container and its text

#[test]
fn broken_containers() {
    let good = arm().glb();
    let with = |at: usize, bytes: &[u8]| {
        let mut file = good.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        refused(&file)
    };
    assert_eq!(
        refused(b""),
        "f: file: EOF while parsing a value (line 1, column 0)"
    );
    assert_eq!(refused(b"glTF"), "f: file: the header ends early at byte 4");
    assert_eq!(
        with(4, &[1]),
        "f: file: the container's version is not 2 at byte 4"
    );
    assert_eq!(
        with(8, &[255; 4]),
        "f: file: the file is shorter than its header says at byte 8"
    );
    assert_eq!(
        refused(&good[..good.len() - 1]),
        "f: file: the file is shorter than its header says at byte 8"
    );
    assert_eq!(
        with(8, &[12, 0, 0, 0]),
        "f: file: there is no JSON chunk at byte 12"
    );
    assert_eq!(
        with(8, &[0, 0, 0, 0]),
        "f: file: there is no JSON chunk at byte 12"
    );
    assert_eq!(
        with(8, &[14, 0, 0, 0]),
        "f: file: a chunk's header ends early at byte 12"
    );
    assert_eq!(
        with(12, &[255; 4]),
        "f: file: a chunk is longer than the file at byte 12"
    );
    assert_eq!(
        with(16, b"BIN\0"),
        "f: file: the first chunk is not JSON at byte 16"
    );
    let length = u32::from_le_bytes(good[12..16].try_into().unwrap());
    let odd = (length - 1).to_le_bytes();
    assert_eq!(
        with(12, &odd),
        "f: file: a chunk's length is no multiple of 4 at byte 12"
    );
    assert_eq!(
        with(24, &[0xFF]),
        "f: file: the JSON is not UTF-8 at byte 24"
    );
}

#[test]
fn errors_of_the_json_name_object_and_place() {
    let text = r#"{"asset":{"version":"2.0"},"accessors":[{"componentType":5126,"type":"VEC3","count":-1}]}"#;
    let error = gltf(text.as_bytes(), &options()).unwrap_err();
    let Error::Asset {
        object,
        why: AssetFault::Json {
            line: 1, column, ..
        },
        ..
    } = &error
    else {
        panic!("{error:?}");
    };
    assert_eq!((object.index, &*object.part), (Some(0), "count"));
    assert!(*column > 80);
    assert!(
        error
            .to_string()
            .starts_with("f: accessor 0, count: invalid value: integer `-1`")
    );
    for (path, value, start) in [
        (
            "/nodes/1/children",
            json!([0.5]),
            "f: node 1, children[0]: invalid type: floating point",
        ),
        (
            "/nodes/3/translation",
            json!([0, 1]),
            "f: node 3, translation",
        ),
        (
            "/nodes/3/translation",
            json!([0, 1, 2, 3]),
            "f: node 3, translation",
        ),
        (
            "/nodes/3/translation",
            json!([0, null, 2]),
            "f: node 3, translation[1]",
        ),
        (
            "/skins/0/joints",
            json!("all"),
            "f: skin 0, joints: invalid type",
        ),
        (
            "/animations/0/channels/0/target",
            json!({}),
            "f: animation 0, channels[0].target: missing field `path`",
        ),
        (
            "/meshes/0/primitives",
            json!(null),
            "f: mesh 0: missing field `primitives`",
        ),
        ("/asset", json!(null), "f: file: missing field `asset`"),
        ("/scene", json!("x"), "f: file, scene: invalid type"),
    ] {
        let words = with(&arm(), path, value);
        assert!(words.starts_with(start), "{words}");
    }
    assert!(refused(b"{} {}").contains("missing field `asset`"));
    let mut twice = arm().gltf();
    twice.extend(b"{}");
    assert!(refused(&twice).contains("trailing characters"));
}

#[test]
fn versions_and_required_extensions() {
    for (path, value, words) in [
        (
            "/asset/version",
            json!("1.0"),
            "f: file, asset.version: requires glTF 1.0, which is not supported",
        ),
        (
            "/asset/version",
            json!("two"),
            "f: file, asset.version: the version is two, which is not allowed here (2.x)",
        ),
        (
            "/asset/minVersion",
            json!("2.1"),
            "f: file, asset.minVersion: requires glTF 2.1, which is not supported",
        ),
        (
            "/extensionsRequired",
            json!(["KHR_draco_mesh_compression"]),
            "f: file, extensionsRequired: requires KHR_draco_mesh_compression, which is not supported",
        ),
        (
            "/extensionsRequired",
            json!(["KHR_mesh_quantization", "EXT_meshopt_compression"]),
            "f: file, extensionsRequired: requires EXT_meshopt_compression, which is not supported",
        ),
    ] {
        assert_eq!(with(&arm(), path, value), words);
    }
    let newer = changed(&arm(), "/asset/version", json!("2.7"));
    assert!(gltf(&newer.glb(), &options()).is_ok());
}

// References, ranges and counts

#[test]
fn dangling_references() {
    for (path, words) in [
        (
            "/scene",
            "f: file, scene: refers to scene 99, but there are 1",
        ),
        (
            "/scenes/0/nodes/0",
            "f: scene 0, nodes[0]: refers to node 99, but there are 4",
        ),
        (
            "/nodes/1/children/0",
            "f: node 1, children[0]: refers to node 99, but there are 4",
        ),
        (
            "/nodes/0/mesh",
            "f: node 0, mesh: refers to mesh 99, but there are 1",
        ),
        (
            "/nodes/0/skin",
            "f: node 0, skin: refers to skin 99, but there are 1",
        ),
        (
            "/skins/0/joints/1",
            "f: skin 0, joints[1]: refers to node 99, but there are 4",
        ),
        (
            "/skins/0/skeleton",
            "f: skin 0, skeleton: refers to node 99, but there are 4",
        ),
        (
            "/skins/0/inverseBindMatrices",
            "f: skin 0, inverseBindMatrices: refers to accessor 99, but there are 7",
        ),
        (
            "/meshes/0/primitives/0/indices",
            "f: mesh 0, primitives[0].indices: refers to accessor 99, but there are 7",
        ),
        (
            "/meshes/0/primitives/0/material",
            "f: mesh 0, primitives[0].material: refers to material 99, but there are 1",
        ),
        (
            "/meshes/0/primitives/0/attributes/POSITION",
            "f: mesh 0, primitives[0].attributes.POSITION: refers to accessor 99, but there are 7",
        ),
        (
            "/animations/0/channels/0/sampler",
            "f: animation 0, channels[0].sampler: refers to sampler 99, but there are 1",
        ),
        (
            "/animations/0/channels/0/target/node",
            "f: animation 0, channels[0].target.node: refers to node 99, but there are 4",
        ),
        (
            "/animations/0/samplers/0/input",
            "f: animation 0, samplers[0].input: refers to accessor 99, but there are 7",
        ),
        (
            "/animations/0/samplers/0/output",
            "f: animation 0, samplers[0].output: refers to accessor 99, but there are 7",
        ),
        (
            "/accessors/2/bufferView",
            "f: accessor 2, bufferView: refers to bufferView 99, but there are 7",
        ),
        (
            "/bufferViews/2/buffer",
            "f: bufferView 2, buffer: refers to buffer 99, but there are 1",
        ),
    ] {
        assert_eq!(with(&arm(), path, json!(99)), words);
    }
    let mut b = arm();
    b.json["textures"] = json!([{ "source": 0, "sampler": 0 }]);
    assert_eq!(
        refused(&b.glb()),
        "f: texture 0, source: refers to image 0, but there are 0"
    );
    b.json["images"] = json!([{}]);
    assert_eq!(
        refused(&b.glb()),
        "f: texture 0, sampler: refers to sampler 0, but there are 0"
    );
    let words = with(
        &arm(),
        "/materials/0/pbrMetallicRoughness/baseColorTexture",
        json!({ "index": 3 }),
    );
    assert_eq!(
        words,
        "f: material 0, pbrMetallicRoughness.baseColorTexture.index: refers to texture 3, but there are 0"
    );
}

#[test]
fn ranges_with_numbers_near_2_to_the_64() {
    let huge = u64::MAX;
    for (path, value, words) in [
        (
            "/accessors/0/byteOffset",
            json!(4),
            "f: accessor 0: needs bytes 4..76 of the bufferView, which has 72",
        ),
        (
            "/accessors/0/byteOffset",
            json!(huge),
            "f: accessor 0: needs bytes 18446744073709551615..18446744073709551615 of the bufferView, which has 72",
        ),
        (
            "/accessors/0/byteOffset",
            json!(huge - 71),
            "f: accessor 0: needs bytes 18446744073709551544..18446744073709551615 of the bufferView, which has 72",
        ),
        (
            "/accessors/0/count",
            json!(7),
            "f: accessor 0: needs bytes 0..84 of the bufferView, which has 72",
        ),
        (
            "/accessors/0/count",
            json!(huge),
            "f: accessor 0: needs bytes 0..18446744073709551615 of the bufferView, which has 72",
        ),
        (
            "/accessors/0/count",
            json!(huge / 12 + 2),
            "f: accessor 0: needs bytes 0..18446744073709551615 of the bufferView, which has 72",
        ),
        (
            "/accessors/0/count",
            json!(0),
            "f: accessor 0, count: must be at least 1",
        ),
        (
            "/bufferViews/0/byteStride",
            json!(8),
            "f: accessor 0: the view's stride is less than an element",
        ),
        (
            "/bufferViews/0/byteStride",
            json!(0),
            "f: bufferView 0, byteStride: the stride is 0, which is not allowed here (4 to 252)",
        ),
        (
            "/bufferViews/0/byteStride",
            json!(huge),
            "f: bufferView 0, byteStride: the stride is 18446744073709551615, which is not allowed here (4 to 252)",
        ),
        (
            "/bufferViews/0/byteStride",
            json!(16),
            "f: accessor 0: needs bytes 0..92 of the bufferView, which has 72",
        ),
    ] {
        assert_eq!(with(&arm(), path, value), words);
    }
    for (path, value) in [
        ("/bufferViews/0/byteOffset", huge),
        ("/bufferViews/0/byteOffset", 1_000_000),
        ("/bufferViews/0/byteLength", huge),
        ("/bufferViews/0/byteLength", huge - 3),
    ] {
        let words = with(&arm(), path, json!(value));
        assert!(
            words.starts_with("f: bufferView 0: needs bytes "),
            "{words}"
        );
    }
    let mut b = arm();
    b.json["buffers"] = json!([{ "byteLength": b.bin.len() + 4 }]);
    let words = refused(&b.glb());
    assert!(words.starts_with("f: buffer 0: needs bytes 0.."), "{words}");
    b.json["buffers"] = json!([{ "byteLength": huge, "uri": "data:;base64,AAAA" }]);
    assert!(refused(&b.glb()).contains("is more than the cap of 1073741824"));
    b.json["buffers"] = json!([{ "byteLength": b.bin.len() }]);
    let json = b.json.to_string();
    assert_eq!(
        refused(&glb(json.as_bytes(), None)),
        "f: buffer 0: lacks uri"
    );
}

#[test]
fn forms_that_are_not_allowed() {
    let b = arm();
    for (path, value, words) in [
        (
            "/accessors/0/componentType",
            json!(5124),
            "f: accessor 0, componentType: the component type is 5124, which is not allowed here (5120 to 5123, 5125, 5126)",
        ),
        (
            "/accessors/0/type",
            json!("VEC5"),
            "f: accessor 0, type: the type is VEC5, which is not allowed here (SCALAR, VEC2, VEC3, VEC4, MAT2, MAT3, MAT4)",
        ),
        (
            "/accessors/0/type",
            json!("VEC2"),
            "f: mesh 0, primitives[0].attributes.POSITION: the type of the accessor is VEC2, which is not allowed here (VEC3)",
        ),
        (
            "/accessors/1/componentType",
            json!(5120),
            "f: mesh 0, primitives[0].attributes.JOINTS_0: the component type of the accessor is 5120 (not normalised), which is not allowed here (5121, 5123, not normalised)",
        ),
        (
            "/accessors/1/normalized",
            json!(true),
            "f: mesh 0, primitives[0].attributes.JOINTS_0: the component type of the accessor is 5121 (normalised), which is not allowed here (5121, 5123, not normalised)",
        ),
        (
            "/accessors/1/type",
            json!("VEC3"),
            "f: mesh 0, primitives[0].attributes.JOINTS_0: the type of the accessor is VEC3, which is not allowed here (VEC4)",
        ),
        (
            "/accessors/2/componentType",
            json!(5121),
            "f: mesh 0, primitives[0].attributes.WEIGHTS_0: the component type of the accessor is 5121 (not normalised), which is not allowed here (5126, or normalised 5121, 5123)",
        ),
        (
            "/accessors/3/componentType",
            json!(5122),
            "f: mesh 0, primitives[0].indices: the component type of the accessor is 5122 (not normalised), which is not allowed here (5121, 5123, 5125, not normalised)",
        ),
        (
            "/accessors/4/componentType",
            json!(5125),
            "f: skin 0, inverseBindMatrices: the component type of the accessor is 5125 (not normalised), which is not allowed here (5126)",
        ),
        (
            "/accessors/5/componentType",
            json!(5125),
            "f: animation 0, samplers[0].input: the component type of the accessor is 5125 (not normalised), which is not allowed here (5126)",
        ),
        (
            "/accessors/6/componentType",
            json!(5123),
            "f: animation 0, samplers[0].output: the component type of the accessor is 5123 (not normalised), which is not allowed here (5126, or normalised 5120 to 5123)",
        ),
        (
            "/animations/0/channels/0/target/path",
            json!("spin"),
            "f: animation 0, channels[0].target.path: the path is spin, which is not allowed here (translation, rotation, scale, weights)",
        ),
        (
            "/animations/0/channels/0/target/path",
            json!("scale"),
            "f: animation 0, samplers[0].output: the type of the accessor is VEC4, which is not allowed here (VEC3)",
        ),
        (
            "/animations/0/samplers/0/interpolation",
            json!("BEZIER"),
            "f: animation 0, samplers[0].interpolation: the interpolation is BEZIER, which is not allowed here (LINEAR, STEP, CUBICSPLINE)",
        ),
        (
            "/meshes/0/primitives/0/mode",
            json!(7),
            "f: mesh 0, primitives[0].mode: the mode is 7, which is not allowed here (0 to 6)",
        ),
    ] {
        assert_eq!(with(&b, path, value), words);
    }
}

#[test]
fn counts_that_must_match() {
    let b = arm();
    for (path, value, words) in [
        (
            "/accessors/1/count",
            json!(5),
            "f: mesh 0, primitives[0].attributes.JOINTS_0: the accessor has 5, 6 needed",
        ),
        (
            "/accessors/2/count",
            json!(5),
            "f: mesh 0, primitives[0].attributes.WEIGHTS_0: the accessor has 5, 6 needed",
        ),
        (
            "/accessors/3/count",
            json!(11),
            "f: mesh 0, primitives[0].indices: the number of indices is no multiple of 3",
        ),
        (
            "/accessors/4/count",
            json!(1),
            "f: skin 0, inverseBindMatrices: the accessor has 1, 2 needed",
        ),
        (
            "/accessors/6/count",
            json!(2),
            "f: animation 0, samplers[0].output: the accessor has 2, 3 needed",
        ),
        (
            "/animations/0/samplers/0/interpolation",
            json!("CUBICSPLINE"),
            "f: animation 0, samplers[0].output: the accessor has 3, 9 needed",
        ),
        ("/skins/0/joints", json!([]), "f: skin 0: lacks joints"),
        (
            "/meshes/0/primitives/0/attributes/WEIGHTS_0",
            json!(null),
            "f: mesh 0, primitives[0].attributes.WEIGHTS_0: lacks the weights of a set (the node has a skin)",
        ),
        (
            "/meshes/0/primitives/0/attributes/JOINTS_0",
            json!(null),
            "f: mesh 0, primitives[0].attributes.JOINTS_0: lacks the joints of a set (the node has a skin)",
        ),
        (
            "/meshes/0/primitives/0/attributes/JOINTS_1",
            json!(1),
            "f: mesh 0, primitives[0].attributes.WEIGHTS_1: lacks the weights of a set (the node has a skin)",
        ),
        (
            "/meshes/0/primitives/0/attributes/JOINTS_2",
            json!(1),
            "f: mesh 0, primitives[0].attributes.JOINTS_1: lacks the joints of a set (the node has a skin)",
        ),
        (
            "/meshes/0/primitives/0/attributes/JOINTS_9999999",
            json!(1),
            "f: mesh 0, primitives[0]: influences: 40000000 is more than the cap of 256",
        ),
    ] {
        assert_eq!(with(&b, path, value), words);
    }
    let short = changed(&triangle(), "/accessors/0/count", json!(2));
    let short = changed(&short, "/meshes/0/primitives/0/mode", json!(5));
    assert_eq!(
        refused(&short.glb()),
        "f: mesh 0, primitives[0].indices: a strip or fan has less than three indices"
    );
}

#[test]
fn sparse_parts_are_checked() {
    let sparse = |places: [u8; 2], count: u32, component: u32| {
        let mut b = triangle();
        let places = b.view(&places);
        let values = b.view(&[0.0_f32; 6]);
        b.json["accessors"][0]["sparse"] = json!({ "count": count,
            "indices": { "bufferView": places, "componentType": component },
            "values": { "bufferView": values } });
        b
    };
    assert!(gltf(&sparse([0, 2], 2, U8).glb(), &options()).is_ok());
    for (b, words) in [
        (
            sparse([0, 3], 2, U8),
            "f: accessor 0, sparse.indices (which must ascend and stay below count): index 1 is 3, which is not allowed",
        ),
        (
            sparse([1, 1], 2, U8),
            "f: accessor 0, sparse.indices (which must ascend and stay below count): index 1 is 1, which is not allowed",
        ),
        (
            sparse([2, 1], 2, U8),
            "f: accessor 0, sparse.indices (which must ascend and stay below count): index 1 is 1, which is not allowed",
        ),
        (
            sparse([0, 1], 0, U8),
            "f: accessor 0, sparse.count: the sparse part has 0, 3 needed",
        ),
        (
            sparse([0, 1], 4, U8),
            "f: accessor 0, sparse.count: the sparse part has 4, 3 needed",
        ),
        (
            sparse([0, 1], 3, U8),
            "f: accessor 0, sparse.indices: needs bytes 0..3 of the bufferView, which has 2",
        ),
        (
            sparse([0, 1], 2, U32),
            "f: accessor 0, sparse.indices: needs bytes 0..8 of the bufferView, which has 2",
        ),
        (
            sparse([0, 1], 2, F32),
            "f: accessor 0, sparse.indices.componentType: the component type is 5126, which is not allowed here (5121, 5123, 5125)",
        ),
    ] {
        assert_eq!(refused(&b.glb()), words);
    }
    let mut b = sparse([0, 1], 2, U8);
    b.json["accessors"][0]["sparse"]["values"]["byteOffset"] = json!(u64::MAX);
    assert!(refused(&b.glb()).starts_with("f: accessor 0, sparse.values: needs bytes"));
}

// Nodes

#[test]
fn hierarchies_that_are_no_forest() {
    for (changes, node) in [
        (json!([{ "mesh": 0, "children": [0] }]), 0),
        (
            json!([{ "mesh": 0, "children": [1] }, { "children": [0] }]),
            0,
        ),
        (
            json!([{ "mesh": 0 }, { "children": [0] }, { "children": [0] }]),
            0,
        ),
        (json!([{ "mesh": 0 }, { "children": [0, 0] }]), 0),
        (
            json!([{ "mesh": 0 }, { "children": [2] }, { "children": [3] }, { "children": [1] }]),
            1,
        ),
    ] {
        let b = changed(&triangle(), "/nodes", changes);
        let words = format!("f: node {node}: is its own ancestor, or the child of two nodes");
        assert_eq!(refused(&b.glb()), words);
    }
}

#[test]
fn a_scene_root_with_a_parent_keeps_it() {
    let nodes = json!([{ "mesh": 0 }, { "children": [0], "translation": [1, 2, 3] }]);
    let c = repaired(&changed(&triangle(), "/nodes", nodes));
    told(
        &c,
        &["scene 0, nodes: scene roots that have a parent keep it (1)"],
    );
    assert_eq!(c.skeleton().len(), 2);
    let plain = repaired(&triangle());
    assert_eq!(
        c.rest_bounds().min,
        plain.rest_bounds().min + Vec3::new(1.0, 2.0, 3.0)
    );
}

#[test]
fn a_slight_shear_is_removed_and_told() {
    let sheared = |by: f32| json!([{ "mesh": 0, "matrix": [1,0,0,0, by,1,0,0, 0,0,1,0, 0,0,0,1] }]);
    let c = repaired(&changed(&triangle(), "/nodes", sheared(5e-6)));
    told(&c, &[]);
    let c = repaired(&changed(&triangle(), "/nodes", sheared(5e-4)));
    told(
        &c,
        &["node 0, matrix: slight shear of a matrix removed (1)"],
    );
    let by_much = changed(&triangle(), "/nodes", sheared(5e-3));
    assert_eq!(
        refused(&by_much.glb()),
        "f: node 0, matrix: is not made of translation, rotation and scale"
    );
}

#[test]
fn transforms_that_are_not_allowed() {
    let node = |node| changed(&triangle(), "/nodes", json!([node]));
    for (b, words) in [
        (
            node(json!({ "mesh": 0, "translation": [0, 1e39, 0] })),
            "f: node 0, translation: component 1 is inf, which is not allowed",
        ),
        (
            node(json!({ "mesh": 0, "scale": [-1e300, 1, 0] })),
            "f: node 0, scale: component 0 is -inf, which is not allowed",
        ),
        (
            node(json!({ "mesh": 0, "matrix": [1,0,0,0, 1,1,0,0, 0,0,1,0, 0,0,0,1] })),
            "f: node 0, matrix: is not made of translation, rotation and scale",
        ),
        (
            node(json!({ "mesh": 0, "matrix": [1,0,0,0, 0,1,0,0, 0,0,1,0.5, 0,0,0,1] })),
            "f: node 0, matrix: has a last row other than 0, 0, 0, 1",
        ),
        (
            node(
                json!({ "mesh": 0, "matrix": [1,0,0,0, 0,2,0,0, 0,0,1,0, 0,0,0,1], "scale": [1,1,1] }),
            ),
            "f: node 0, matrix: stands beside translation, rotation or scale",
        ),
    ] {
        assert_eq!(refused(&b.glb()), words);
    }
    let nodes =
        json!([{ "mesh": 0, "scale": [1e30, 1, 1] }, { "children": [0], "scale": [1e30, 1, 1] }]);
    let b = changed(&triangle(), "/nodes", nodes);
    let b = changed(&b, "/scenes", json!([{ "nodes": [1] }]));
    assert_eq!(
        refused(&b.glb()),
        "f: node 0: lies too far out, or is scaled too far, at rest"
    );
}

#[test]
fn quaternions_of_nodes_are_repaired() {
    for (rotation, repair) in [
        (
            json!([0, 0, 0, 0]),
            Some("zero quaternions set to the identity"),
        ),
        (json!([0, 0, 0, 2]), Some("quaternions normalised")),
        (json!([0, 0, 0, 1.001]), None),
    ] {
        let c = repaired(&changed(&triangle(), "/nodes/0/rotation", rotation));
        assert_eq!(c.skeleton().joints()[0].rest.rotation, Quat::IDENTITY);
        let expected = repair.map(|kind| format!("node 0, rotation: {kind} (1)"));
        assert_eq!(c.repairs.first().map(ToString::to_string), expected);
    }
}

// Vertices

fn weighted(weights: [f32; 4], joints: [u8; 4]) -> Builder {
    let mut b = arm();
    let joints = b.accessor("VEC4", U8, &joints.repeat(6));
    let weights = b.accessor("VEC4", F32, &weights.repeat(6));
    let attributes = b.json.pointer_mut(ATTRIBUTES).unwrap();
    attributes["JOINTS_0"] = json!(joints);
    attributes["WEIGHTS_0"] = json!(weights);
    b
}

#[test]
fn weights_are_renormalised() {
    let c = repaired(&weighted([0.6, 0.2, 0.0, 0.0], [0, 1, 0, 0]));
    told(&c, &["mesh 0, primitives[0]: weights renormalised (6)"]);
    assert_eq!(c.primitives()[0].influences.weights[..2], [49151, 16384]);
    let c = repaired(&weighted([1e-30, 3e-30, 0.0, 0.0], [0, 1, 0, 0]));
    assert_eq!(c.primitives()[0].influences.weights[..2], [49151, 16384]);
    let c = repaired(&weighted(
        [f32::MAX, f32::MAX, f32::MAX, f32::MAX],
        [0, 0, 1, 1],
    ));
    assert_eq!(c.primitives()[0].influences.weights[..2], [32768, 32767]);
    told(
        &repaired(&weighted([0.5003, 0.5, 0.0, 0.0], [0, 1, 0, 0])),
        &[],
    );
}

#[test]
fn weights_sum_to_1_exactly_and_each_is_off_by_less_than_a_unit() {
    let mut b = arm();
    let nodes: Vec<usize> = (0..4).map(|_| b.add("nodes", json!({}))).collect();
    b.json["skins"][0] = json!({ "joints": nodes });
    let mut state = 1_u32;
    for _ in 0..200 {
        let weights = [0; 4].map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state) / 4e9
        });
        let sum: f64 = weights.iter().sum();
        let view = b.view(&weights.map(|w| (w / sum) as f32).repeat(6));
        b.json["accessors"][2]["bufferView"] = json!(view);
        let joints = b.accessor("VEC4", U8, &[0, 1, 2, 3_u8].repeat(6));
        b.json.pointer_mut(ATTRIBUTES).unwrap()["JOINTS_0"] = json!(joints);
        let c = repaired(&b);
        let influences = &c.primitives()[0].influences;
        assert_eq!(
            influences.weights[..4]
                .iter()
                .map(|w| u32::from(*w))
                .sum::<u32>(),
            65_535
        );
        for (joint, weight) in influences.of(0) {
            let exact = weights[joint] / sum;
            assert!((f64::from(weight) - exact).abs() < 1.0 / 65_535.0 + 1e-7);
        }
    }
}

#[test]
fn weightless_vertices_follow_their_first_joint() {
    let c = repaired(&weighted([0.0; 4], [1, 0, 0, 0]));
    told(
        &c,
        &["mesh 0, primitives[0]: vertices without weight made rigid to their first joint (6)"],
    );
    assert_eq!((c.palette().len(), c.palette()[0].joint), (1, 2));
    assert_eq!(c.primitives()[0].influences.per_vertex, 1);
}

#[test]
fn joints_out_of_range() {
    let c = repaired(&weighted([0.5, 0.5, 0.0, 0.0], [0, 1, 77, 0]));
    told(
        &c,
        &["mesh 0, primitives[0]: joint indices out of range with weight zero set to 0 (6)"],
    );
    let words = refused(&weighted([0.5, 0.4, 0.1, 0.0], [0, 1, 77, 0]).glb());
    assert_eq!(
        words,
        "f: mesh 0, primitives[0], vertex 0: refers to joint 77, but there are 2"
    );
    let c = repaired(&weighted([0.0; 4], [77, 0, 0, 0]));
    assert_eq!(c.palette()[0].joint, 1, "the skin's first");
    assert_eq!(c.repairs.len(), 2);
}

#[test]
fn repeated_joints_are_merged() {
    let c = repaired(&weighted([0.25, 0.25, 0.25, 0.25], [1, 0, 1, 1]));
    told(
        &c,
        &["mesh 0, primitives[0]: repeated joints of a vertex merged (6)"],
    );
    let influences = &c.primitives()[0].influences;
    assert_eq!(
        (influences.per_vertex, &influences.weights[..2]),
        (2, &[49151, 16384][..])
    );
}

#[test]
fn weights_that_are_not_allowed() {
    for (weight, words) in [
        (-0.5, "weight 1 is -0.5"),
        (f32::NAN, "weight 1 is NaN"),
        (f32::INFINITY, "weight 1 is inf"),
    ] {
        let b = weighted([0.5, weight, 0.5, 0.5], [0, 1, 0, 0]);
        let words = format!("f: mesh 0, primitives[0], vertex 0: {words}, which is not allowed");
        assert_eq!(refused(&b.glb()), words);
    }
}

#[test]
fn numbers_that_are_not_finite() {
    for (kind, name) in [
        ("VEC3", "POSITION"),
        ("VEC3", "NORMAL"),
        ("VEC2", "TEXCOORD_0"),
        ("VEC4", "COLOR_0"),
    ] {
        let per = kind[3..].parse::<usize>().unwrap();
        let mut values = vec![0.5; per * 3];
        values[per * 2] = f32::NAN;
        let mut b = triangle();
        let accessor = b.accessor(kind, F32, &values);
        b.json.pointer_mut(ATTRIBUTES).unwrap()[name] = json!(accessor);
        let words = refused(&b.glb());
        assert!(
            words.starts_with("f: mesh 0, primitives[0], attributes."),
            "{words}"
        );
        assert!(
            words.ends_with("vertex 2 is NaN, which is not allowed"),
            "{words}"
        );
    }
    let mut binds = [0.0_f32; 32];
    binds[20] = f32::INFINITY;
    let mut b = arm();
    let accessor = b.accessor("MAT4", F32, &binds);
    b.json["skins"][0]["inverseBindMatrices"] = json!(accessor);
    let words = refused(&b.glb());
    assert_eq!(
        words,
        "f: skin 0, inverseBindMatrices[0]: has a last row other than 0, 0, 0, 1"
    );
    let words = with(
        &arm(),
        "/materials/0/pbrMetallicRoughness/baseColorFactor",
        json!([1, 1e39, 1, 1]),
    );
    assert_eq!(
        words,
        "f: material 0, baseColorFactor: component 1 is inf, which is not allowed"
    );
}

#[test]
fn indices_that_are_not_allowed() {
    let mut b = triangle();
    for (accessor, words) in [
        (
            b.accessor("SCALAR", U8, &[0_u8, 1, 3]),
            "f: mesh 0, primitives[0].indices[2]: refers to vertex 3, but there are 3",
        ),
        (
            b.accessor("SCALAR", U8, &[0_u8, 255, 1]),
            "f: mesh 0, primitives[0].indices[1]: is the primitive restart value",
        ),
        (
            b.accessor("SCALAR", U16, &[0_u16, 65535, 1]),
            "f: mesh 0, primitives[0].indices[1]: is the primitive restart value",
        ),
        (
            b.accessor("SCALAR", U32, &[u32::MAX, 0, 1]),
            "f: mesh 0, primitives[0].indices[0]: is the primitive restart value",
        ),
    ] {
        let b = changed(&b, "/meshes/0/primitives/0/indices", json!(accessor));
        assert_eq!(refused(&b.glb()), words);
    }
}

#[test]
fn normals_are_brought_to_unit_length() {
    let mut b = triangle();
    let normals = b.accessor(
        "VEC3",
        F32,
        &[0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.001_f32],
    );
    b.json.pointer_mut(ATTRIBUTES).unwrap()["NORMAL"] = json!(normals);
    let c = repaired(&b);
    told(&c, &["mesh 0, primitives[0]: normals normalised (2)"]);
    assert_eq!(c.primitives()[0].normals, [Vec3::Z; 3]);
}

// Animations

#[test]
fn key_times_that_are_not_allowed() {
    for (times, key, value) in [
        ([-0.5, 0.5, 1.0], 0, "-0.5"),
        ([0.0, 0.0, 1.0], 1, "0"),
        ([0.0, 2.0, 1.0], 2, "1"),
        ([0.0, f32::NAN, 1.0], 1, "NaN"),
        ([0.0, 1.0, f32::INFINITY], 2, "inf"),
    ] {
        let mut b = arm();
        let accessor = b.accessor("SCALAR", F32, &times);
        b.json["animations"][0]["samplers"][0]["input"] = json!(accessor);
        let words = format!(
            "f: animation 0, samplers[0].input: the time of key {key} is {value}, which is not allowed"
        );
        assert_eq!(refused(&b.glb()), words);
    }
}

#[test]
fn values_and_targets_that_are_not_allowed() {
    let mut b = arm();
    let mut turns = [0.5_f32; 12];
    turns[5] = f32::NAN;
    let accessor = b.accessor("VEC4", F32, &turns);
    let b = changed(&b, "/animations/0/samplers/0/output", json!(accessor));
    assert_eq!(
        refused(&b.glb()),
        "f: animation 0, channels[0], value 1: a value is not finite"
    );
    let mut b = arm();
    let channel = b.json["animations"][0]["channels"][0].clone();
    b.json["animations"][0]["channels"]
        .as_array_mut()
        .unwrap()
        .push(channel);
    assert_eq!(
        refused(&b.glb()),
        "f: animation 0, channels[1].target: is driven by another channel already"
    );
    let mut b = arm();
    let places = b.normalized("VEC3", I16, &[0_i16; 9]);
    b.json["animations"][0]["samplers"][0]["output"] = json!(places);
    b.json["animations"][0]["channels"][0]["target"]["path"] = json!("translation");
    assert!(refused(&b.glb()).contains("5122 (normalised), which is not allowed here (5126)"));
}

fn keys(interpolation: &str, values: &[f32]) -> Imported {
    let mut b = arm();
    let accessor = b.accessor("VEC4", F32, values);
    let sampler = &mut b.json["animations"][0]["samplers"][0];
    sampler["output"] = json!(accessor);
    sampler["interpolation"] = json!(interpolation);
    repaired(&b)
}

fn rotations(imported: &Imported) -> Vec<[f32; 4]> {
    match &imported.clips()[0].tracks()[0].values {
        TrackValues::Rotation(keys) => keys.values.iter().map(|q| q.to_array()).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn rotation_keys_are_repaired() {
    const I: [f32; 4] = [0.0, 0.0, 0.0, 1.0];
    let c = keys("LINEAR", &[[0.0; 4], [0.0, 0.0, 0.0, 2.0], I].concat());
    told(
        &c,
        &[
            "animation 0: zero quaternions set to the identity (1)",
            "animation 0: quaternions normalised (1)",
        ],
    );
    assert_eq!(rotations(&c), [I; 3]);
    let turned = [0.6, 0.0, 0.0, -0.8];
    let c = keys("LINEAR", &[I, turned, I].concat());
    told(
        &c,
        &["animation 0: rotation keys flipped onto the shortest arc (1)"],
    );
    assert_eq!(rotations(&c), [I, [-0.6, 0.0, 0.0, 0.8], I]);
    let c = keys("STEP", &[I, turned, I].concat());
    told(&c, &[]);
    assert_eq!(rotations(&c)[1], turned);
}

#[test]
fn tangents_are_left_alone() {
    let tangent = [3.0, 0.0, 0.0, -7.0];
    let value = [0.0, 0.0, 0.0, -2.0];
    let c = keys(
        "CUBICSPLINE",
        &[
            tangent, [0.0; 4], [0.0; 4], [0.0; 4], value, tangent, tangent, value, tangent,
        ]
        .concat(),
    );
    told(
        &c,
        &["animation 0: zero quaternions set to the identity (1)"],
    );
    let read = rotations(&c);
    assert_eq!(
        (read[0], read[1], read[2]),
        (tangent, [0.0, 0.0, 0.0, 1.0], [0.0; 4])
    );
    assert_eq!((read[4], read[5]), (value, tangent));
}

// Caps

#[test]
fn a_tiny_file_cannot_claim_much() {
    let b = changed(
        &triangle(),
        "/accessors/0",
        json!({
        "componentType": F32, "type": "VEC3", "count": 3_999_999_999_u64 }),
    );
    assert_eq!(
        refused(&b.glb()),
        "f: mesh 0, primitives[0]: vertices: 3999999999 is more than the cap of 4194304"
    );
    let mut b = arm();
    b.json["accessors"][3] =
        json!({ "componentType": U8, "type": "SCALAR", "count": 3_999_999_999_u64 });
    assert!(refused(&b.glb()).contains("triangle indices: 3999999999 is more than the cap"));
    let mut b = arm();
    b.json["accessors"][5] = json!({ "componentType": F32, "type": "SCALAR", "count": u64::MAX });
    assert!(refused(&b.glb()).contains("keys: 18446744073709551615 is more than the cap"));
}

#[test]
fn every_cap_is_kept() {
    type Set = fn(&mut ImportOptions);
    let sets: [(Set, &str); 8] = [
        (|o| o.max_json_bytes = 100, "bytes of JSON: "),
        (|o| o.max_nodes = 3, "nodes: 4 is more than the cap of 3"),
        (
            |o| o.max_primitives = 0,
            "primitives: 1 is more than the cap of 0",
        ),
        (
            |o| o.max_vertices = 5,
            "vertices: 6 is more than the cap of 5",
        ),
        (
            |o| o.max_indices = 11,
            "triangle indices: 12 is more than the cap of 11",
        ),
        (|o| o.max_keys = 2, "keys: 3 is more than the cap of 2"),
        (|o| o.max_decoded_bytes = 500, "bytes of decoded data: "),
        (|o| o.max_resource_bytes = 100, "bytes of one resource: "),
    ];
    for (set, words) in sets {
        let mut options = options();
        set(&mut options);
        let error = gltf(&arm().gltf(), &options).unwrap_err();
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
    options.max_resource_bytes = 300;
    let error = gltf(&b.glb(), &options).unwrap_err();
    assert!(
        error.to_string().contains("is more than the cap of 300"),
        "{error}"
    );
}

// Images

fn with_image(bytes: &[u8]) -> Builder {
    let mut b = triangle();
    let view = b.view(bytes);
    b.json["images"] = json!([{ "bufferView": view }]);
    b.json["textures"] = json!([{ "source": 0 }]);
    b.json["materials"] =
        json!([{ "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } } }]);
    b.json["meshes"][0]["primitives"][0]["material"] = json!(0);
    b
}

#[test]
fn images_that_cannot_be_decoded() {
    let mut png = std::io::Cursor::new(Vec::new());
    let pixels = image::RgbImage::new(40, 30);
    pixels.write_to(&mut png, image::ImageFormat::Png).unwrap();
    let png = png.into_inner();
    assert!(gltf(&with_image(&png).glb(), &options()).is_ok());
    assert!(
        refused(&with_image(&png[..png.len() / 2]).glb())
            .starts_with("f: image 0: cannot be decoded: ")
    );
    let words = refused(&with_image(b"GIF89a....").glb());
    assert_eq!(
        words,
        "f: image 0: cannot be decoded: it is neither PNG nor JPEG"
    );
    let mut small = options();
    small.max_image_texels = 1199;
    let error = gltf(&with_image(&png).glb(), &small).unwrap_err();
    assert_eq!(
        error.to_string(),
        "f: image 0: texels of one image: 1200 is more than the cap of 1199"
    );
    let mut huge = png.clone();
    huge[16..24].copy_from_slice(&[0x7F, 0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF]);
    let words = refused(&with_image(&huge).glb());
    assert!(words.starts_with("f: image 0: "), "{words}");
    let mut b = with_image(&png);
    b.json["images"][0]["uri"] = json!("x.png");
    assert_eq!(
        refused(&b.glb()),
        "f: image 0: has both a uri and a bufferView"
    );
    b.json["images"][0] = json!({});
    assert_eq!(refused(&b.glb()), "f: image 0: lacks uri or bufferView");
    b.json["samplers"] = json!([{ "wrapS": 1 }]);
    b.json["textures"] = json!([{ "source": 0, "sampler": 0 }]);
    assert!(refused(&b.glb()).starts_with("f: sampler 0, wrapS: wrapS is 1"));
}

// Resources

/// A fresh folder for one test, with `secret.bin` beside the folder `inner` that it gives.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    drop(std::fs::remove_dir_all(&folder));
    std::fs::create_dir_all(folder.join("inner")).unwrap();
    std::fs::write(folder.join("secret.bin"), arm().bin).unwrap();
    folder.join("inner")
}

#[test]
fn nothing_outside_the_folder_is_read() {
    let inner = folder("import_outside");
    let secret = inner.parent().unwrap().join("secret.bin");
    let absolute = secret.to_str().unwrap().to_owned();
    let path = inner.join("arm.gltf");
    for uri in [
        "../secret.bin",
        "%2e%2e/secret.bin",
        "..%2Fsecret.bin",
        "a/../../secret.bin",
        "./../secret.bin",
        "..\\secret.bin",
        "%2E%2E%5Csecret.bin",
        &absolute,
        &format!("file://{absolute}"),
        &format!("file:{absolute}"),
        &format!("FILE://{absolute}"),
        "C:/secret.bin",
        "c:secret.bin",
        "//host/secret.bin",
        "\\\\host\\secret.bin",
        "https://host/secret.bin",
        "",
        "%00",
        "a\nb",
        "%FF",
        "data:",
        "data:;base64",
        "data:;base64,***",
        "data:;base64,A",
    ] {
        std::fs::write(&path, arm().gltf_beside(uri)).unwrap();
        let error = gltf_file(&path, &options()).unwrap_err();
        let Error::Asset {
            object,
            why: AssetFault::Resource { .. },
            ..
        } = &error
        else {
            panic!("{uri}: {error:?}");
        };
        assert_eq!(object.to_string(), "buffer 0");
        let mut never = |uri: &str| -> throng::Result<Vec<u8>> { panic!("asked for {uri}") };
        gltf_with(&arm().gltf_beside(uri), &mut never, &options()).unwrap_err();
    }
    let words = refused(&arm().gltf_beside("arm.bin"));
    assert_eq!(
        words,
        "f: buffer 0: refers to \"arm.bin\", which can't be reached: only bytes were given"
    );
}

#[cfg(unix)]
#[test]
fn links_out_of_the_folder_and_files_that_are_not_plain() {
    let inner = folder("import_links");
    let path = inner.join("arm.gltf");
    std::os::unix::fs::symlink("../secret.bin", inner.join("link.bin")).unwrap();
    std::os::unix::fs::symlink("..", inner.join("up")).unwrap();
    std::fs::write(inner.join("own.bin"), arm().bin).unwrap();
    std::os::unix::fs::symlink("own.bin", inner.join("fine.bin")).unwrap();
    let pipe = std::process::Command::new("mkfifo")
        .arg(inner.join("pipe.bin"))
        .status();
    assert!(pipe.is_ok_and(|status| status.success()));
    for (uri, why) in [
        ("link.bin", "is a link out of the folder"),
        ("up/secret.bin", "is a link out of the folder"),
        ("up", "is a link out of the folder"),
        ("pipe.bin", "is not a plain file"),
        (".", "is not a plain file"),
    ] {
        std::fs::write(&path, arm().gltf_beside(uri)).unwrap();
        let error = gltf_file(&path, &options()).unwrap_err();
        assert!(error.to_string().ends_with(why), "{error}");
    }
    std::fs::write(&path, arm().gltf_beside("fine.bin")).unwrap();
    gltf_file(&path, &options()).unwrap();
    assert!(gltf_file(inner.join("pipe.bin"), &options()).is_err());
    assert!(gltf_file("/dev/zero", &options()).is_err());
}

#[test]
fn missing_and_short_and_large_files() {
    let inner = folder("import_missing");
    let path = inner.join("arm.gltf");
    let error = gltf_file(&path, &options()).unwrap_err();
    assert!(matches!(
        error,
        Error::Io {
            kind: std::io::ErrorKind::NotFound,
            ..
        }
    ));
    std::fs::write(&path, arm().gltf_beside("a.bin")).unwrap();
    let error = gltf_file(&path, &options()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "f: buffer 0: refers to \"a.bin\", which cannot be read: entity not found"
    );
    std::fs::write(inner.join("a.bin"), [0; 7]).unwrap();
    let error = gltf_file(&path, &options()).unwrap_err();
    assert!(
        error.to_string().ends_with("of the data, which has 7"),
        "{error}"
    );
    let mut small = options();
    small.max_resource_bytes = 2000;
    std::fs::write(inner.join("a.bin"), [0; 3000]).unwrap();
    std::fs::write(
        &path,
        changed(
            &arm(),
            "/buffers",
            json!([{ "byteLength": 576, "uri": "a.bin" }]),
        )
        .json
        .to_string(),
    )
    .unwrap();
    let error = gltf_file(&path, &small).unwrap_err();
    assert!(
        error.to_string().contains("is more than the cap of 2000"),
        "{error}"
    );
}

#[test]
fn files_with_nothing_in_them() {
    let b = changed(&triangle(), "/nodes/0", json!({}));
    assert_eq!(refused(&b.glb()), "f: file: has nothing to draw or to pose");
    assert_eq!(
        refused(br#"{"asset":{"version":"2.0"}}"#),
        "f: file: has nothing to draw or to pose"
    );
    assert!(has_kind(&repaired(&trailing()), RepairKind::TrailingBytes));
}

fn trailing() -> Builder {
    let mut b = triangle();
    b.json["buffers"] = json!([{ "byteLength": b.bin.len() }]);
    b.bin.extend([0; 8]);
    b
}

fn has_kind(imported: &Imported, kind: RepairKind) -> bool {
    imported.repairs.iter().any(|repair| repair.kind == kind)
}
