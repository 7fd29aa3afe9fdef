//! Broken containers and JSON.

use crate::builder::*;
use crate::help::*;
use serde_json::json;
use throng::Error;
use throng::error::AssetFault;
use throng::import::gltf;

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
