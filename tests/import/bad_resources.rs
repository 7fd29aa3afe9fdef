//! Nothing outside the folder is read.

use crate::builder::*;
use crate::help::*;
use serde_json::json;
use std::path::{Path, PathBuf};
use throng::Error;
use throng::error::AssetFault;
use throng::import::{ImportOptions, Imported, RepairKind, ResourceReader};

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
        let error = throng_import::file(&path, &options()).unwrap_err();
        let Error::Asset {
            object,
            why: AssetFault::Resource { .. },
            ..
        } = &error
        else {
            panic!("{uri}: {error:?}");
        };
        assert_eq!(object.to_string(), "buffer 0");
        let never = |uri: &str| -> throng::Result<Vec<u8>> { panic!("asked for {uri}") };
        let options = ImportOptions {
            resources: Some(ResourceReader::new(never)),
            ..options()
        };
        throng_import::bytes(&arm().gltf_beside(uri), &options).unwrap_err();
    }
    refused(&arm().gltf_beside("arm.bin"))
        .says("f: buffer 0: refers to \"arm.bin\", which is not available: only bytes were given");
}

/// Windows reserves these names for devices. Here they are files like any other.
#[test]
fn names_of_devices_are_names_of_files() {
    let path = folder("import_devices").join("arm.gltf");
    for uri in ["NUL", "con", "aux.bin", "Com1.bin"] {
        std::fs::write(&path, arm().gltf_beside(uri)).unwrap();
        throng_import::file(&path, &options()).fails("…it does not exist");
    }
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
        (".", "refers to \".\", which cannot be read: is a directory"),
    ] {
        std::fs::write(&path, arm().gltf_beside(uri)).unwrap();
        throng_import::file(&path, &options()).fails(format!("…{why}"));
    }
    std::fs::write(&path, arm().gltf_beside("fine.bin")).unwrap();
    throng_import::file(&path, &options()).unwrap();
    let words = |path: &Path| {
        throng_import::file(path, &options())
            .unwrap_err()
            .to_string()
    };
    words(&inner.join("pipe.bin")).says("f: file: is not a plain file");
    let is_directory = format!("{} cannot be read: is a directory", inner.display());
    assert_eq!(words(&inner), is_directory);
    assert!(throng_import::file("/dev/zero", &options()).is_err());
}

#[test]
fn missing_and_short_and_large_files() {
    let inner = folder("import_missing");
    let path = inner.join("arm.gltf");
    throng_import::file(&path, &options()).fails("… cannot be read: it does not exist");
    std::fs::write(&path, arm().gltf_beside("a.bin")).unwrap();
    throng_import::file(&path, &options())
        .fails("f: buffer 0: refers to \"a.bin\", which cannot be read: it does not exist");
    std::fs::write(inner.join("a.bin"), [0; 7]).unwrap();
    throng_import::file(&path, &options()).fails("…of the data, which has 7 bytes");
    let mut small = options();
    small.limits.resource_bytes = 2000;
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
    throng_import::file(&path, &small).fails("…exceeds the limit of 2000…");
}

#[test]
fn files_with_nothing_in_them() {
    let b = changed(&triangle(), "/nodes/0", json!({}));
    // Nodes alone are a skeleton.
    let c = import(&b);
    assert_eq!((c.skeleton().len(), c.primitives().len()), (1, 0));
    refused(br#"{"asset":{"version":"2.0"}}"#).says("f: file: contains nothing to draw or pose");
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
