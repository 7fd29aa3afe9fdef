//! Broken containers and JSON.

use crate::builder::*;
use crate::help::*;
use crate::reference::cases;
use serde_json::{Map, Value, json};
use throng::Error;
use throng::error::AssetFault;
use throng::import::ImportOptions;

/// The error text for a file whose name alone says that it is glTF.
#[track_caller]
fn refused_by_name(bytes: &[u8]) -> String {
    let options = ImportOptions {
        name: "f.gltf".into(),
        ..options()
    };
    throng_import::bytes(bytes, &options)
        .unwrap_err()
        .to_string()
}

#[test]
fn broken_containers() {
    let good = arm().glb();
    let with = |at: usize, bytes: &[u8]| {
        let mut file = good.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        refused(&file)
    };
    refused_by_name(b"")
        .says("f.gltf: file: the text ends where a value must be (line 1, column 0)");
    refused(b"glTF").says("f: file: the header is incomplete at byte 4");
    with(4, &[1]).says("f: file: requires glTF 1.0, which is not supported");
    with(8, &[255; 4]).says("f: file: the file is shorter than its header states at byte 8");
    refused(&good[..good.len() - 1])
        .says("f: file: the file is shorter than its header states at byte 8");
    with(8, &[12, 0, 0, 0]).says("f: file: there is no JSON chunk at byte 12");
    with(8, &[0, 0, 0, 0]).says("f: file: there is no JSON chunk at byte 12");
    with(8, &[14, 0, 0, 0]).says("f: file: a chunk's header is incomplete at byte 12");
    with(12, &[255; 4]).says("f: file: a chunk is longer than the file at byte 12");
    with(16, b"BIN\0").says("f: file: the first chunk is not JSON at byte 16");
    let length = u32::from_le_bytes(good[12..16].try_into().unwrap());
    let odd = (length - 1).to_le_bytes();
    with(12, &odd).says("f: file: a chunk's length is not a multiple of 4 at byte 12");
    with(24, &[0xFF]).says("f: file: the JSON is not UTF-8 at byte 24");
}

#[test]
fn errors_of_the_json_name_object_and_place() {
    let text = r#"{"asset":{"version":"2.0"},"accessors":[{"componentType":5126,"type":"VEC3","count":-1}]}"#;
    let error = throng_import::bytes(text.as_bytes(), &options()).unwrap_err();
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
    error.says("f: accessor 0, count: must be an integer of at least 0, but is -1…");
    for (case, path, value, start) in cases![
        "/nodes/1/children", json!([0.5])
            => "f: node 1, children[0]: must be an integer of at least 0, but is 0.5";
        "/accessors/0/count", json!(5.5)
            => "f: accessor 0, count: must be an integer of at least 0, but is 5.5";
        "/accessors/0/count", json!(-6.0)
            => "f: accessor 0, count: must be an integer of at least 0, but is -6.0";
        "/accessors/0/byteOffset", json!(1e16)
            => "f: accessor 0, byteOffset: must be an integer of at least 0, but is 1e+16";
        "/meshes/0/primitives/0/attributes/POSITION", json!(0.25)
            => "f: mesh 0, primitives[0].attributes.POSITION: must be an integer of at least 0";
        "/meshes/0/primitives/0/mode", json!(-1)
            => "f: mesh 0, primitives[0].mode: must be an integer of at least 0, but is -1";
        "/nodes/3/translation", json!([0, 1]) => "f: node 3, translation";
        "/nodes/3/translation", json!([0, 1, 2, 3]) => "f: node 3, translation";
        "/nodes/3/translation", json!([0, null, 2]) => "f: node 3, translation[1]";
        "/skins/0/joints", json!("all") => "f: skin 0, joints: must be an array";
        "/animations/0/channels/0/target", json!({})
            => "f: animation 0, channels[0].target: missing field \"path\"";
        "/meshes/0/primitives", json!(null) => "f: mesh 0: missing field \"primitives\"";
        "/asset", json!(null) => "f: file: missing field \"asset\"";
        "/scene", json!("x")
            => "f: file, scene: must be an integer of at least 0, but is the string \"x\"";
    ] {
        with(&arm(), path, value).says_in(case, format!("{start}…"));
    }
    refused_by_name(b"{} {}").says("…text follows the end of the JSON…");
    let mut twice = arm().gltf();
    twice.extend(b"{}");
    refused(&twice).says("…text follows the end of the JSON…");
}

/// Writes every whole number as a float.
fn with_floats(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Some(whole) = number.as_u64() {
                *value = json!(whole as f64);
            }
        }
        Value::Array(list) => list.iter_mut().for_each(with_floats),
        Value::Object(map) => map.values_mut().for_each(with_floats),
        _ => {}
    }
}

#[test]
fn whole_numbers_may_be_written_as_floats() {
    let mut b = arm();
    let places = b.view(&[1_u8, 3]);
    let values = b.view(&[0.5, 0.0, 0.0, 1.0, 1.0, 0.0_f32]);
    b.json["accessors"][0]["sparse"] = json!({ "count": 2,
        "indices": { "bufferView": places, "byteOffset": 0, "componentType": U8 },
        "values": { "bufferView": values, "byteOffset": 0 } });
    b.json["accessors"][0]["byteOffset"] = json!(0);
    b.json["bufferViews"][0]["byteStride"] = json!(12);
    b.json["meshes"][0]["primitives"][0]["mode"] = json!(4);
    b.json["skins"][0]["skeleton"] = json!(1);
    b.json["buffers"] = json!([{ "byteLength": b.bin.len() }]);
    b.json["samplers"] = json!([{ "magFilter": 9728, "minFilter": 9985, "wrapS": 33071 }]);
    b.json["textures"] = json!([{ "sampler": 0, "source": 0 }]);
    b.json["images"] = json!([{ "bufferView": 0 }]);
    let expected = import(&b);
    with_floats(&mut b.json);
    b.json.says("…5126.0…");
    assert_eq!(import(&b), expected);
}

#[test]
fn attributes_are_bounded() {
    let names = |count| (0..count).map(|n| (format!("_{n}"), json!(0))).collect();
    let with_names = |count| {
        let mut b = triangle();
        let mut attributes: Map<String, Value> = names(count);
        attributes.insert("POSITION".into(), json!(0));
        b.json["meshes"][0]["primitives"][0]["attributes"] = json!(attributes);
        b.glb()
    };
    assert!(throng_import::bytes(&with_names(4095), &options()).is_ok());
    let words = refused(&with_names(4096));
    let start = "f: mesh 0, primitives[0].attributes: more than 4096 attributes";
    words.says(format!("{start}…"));
}

#[test]
fn versions_and_required_extensions() {
    for (case, path, value, words) in cases![
        "/asset/version", json!("1.0")
            => "f: file, asset.version: requires glTF 1.0, which is not supported";
        "/asset/version", json!("two")
            => "f: file, asset.version: the version is two, which is not allowed here (2.x)";
        "/asset/minVersion", json!("2.1")
            => "f: file, asset.minVersion: requires glTF 2.1, which is not supported";
        "/extensionsRequired", json!(["KHR_mesh_quantization", "EXT_mesh_primitive_restart"])
            => "f: file, extensionsRequired: requires EXT_mesh_primitive_restart, which is not \
                supported";
    ] {
        with(&arm(), path, value).says_in(case, words);
    }
    let newer = changed(&arm(), "/asset/version", json!("2.7"));
    assert!(throng_import::bytes(&newer.glb(), &options()).is_ok());
}
