//! Files beside the asset, unknown chunks and extensions.

use crate::builder::*;
use crate::help::*;
use serde_json::json;
use std::sync::{Arc, Mutex};
use throng::clip::ClipOptions;
use throng::import::{self, ImportOptions, RepairKind, ResourceReader};

/// A fresh folder for one test.
fn folder(name: &str) -> std::path::PathBuf {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    drop(std::fs::remove_dir_all(&folder));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn files_beside_and_below() {
    let folder = folder("import_beside");
    std::fs::create_dir_all(folder.join("some data")).unwrap();
    let b = arm();
    std::fs::write(folder.join("some data/arm é.bin"), &b.bin).unwrap();
    let path = folder.join("arm.gltf");
    std::fs::write(&path, b.gltf_beside("some%20data/arm%20%C3%A9.bin")).unwrap();
    let c = throng_import::file(&path, &ImportOptions::curves_only()).unwrap();
    assert_eq!(c.name(), "arm.gltf");
    assert_eq!(c.primitives(), import(&b).primitives());
}

/// All files of an asset are listed: read, missing, not needed, and those of its description.
#[test]
fn the_files_of_an_asset_are_listed() {
    let folder = folder("import_listed");
    let mut b = arm();
    let uris = [
        "skin%20a.png",
        "none.png",
        "data:image/png;base64,",
        "../out.png",
    ];
    b.json["images"] = uris.map(|uri| json!({ "uri": uri })).into();
    std::fs::write(folder.join("arm.bin"), &b.bin).unwrap();
    std::fs::write(folder.join("skin a.png"), b"no picture").unwrap();
    std::fs::write(folder.join("arm.toml"), "").unwrap();
    let path = folder.join("arm.gltf");
    std::fs::write(&path, b.gltf_beside("arm.bin")).unwrap();
    let real = folder.canonicalize().unwrap();
    let expect = |imported: &import::Imported, names: &[&str]| {
        let files: Vec<_> = names.iter().map(|name| real.join(name)).collect();
        assert_eq!(imported.files, files);
    };
    let options = ImportOptions::curves_only();
    let all = ["arm.bin", "arm.gltf", "arm.toml", "none.png", "skin a.png"];
    let imported = throng_import::file(&path, &options).unwrap();
    expect(&imported, &all);
    // The description is not looked for, and images are not needed.
    let fewer = ImportOptions {
        images: false,
        sidecar: false,
        ..options.clone()
    };
    let of_document = ["arm.bin", "arm.gltf", "none.png", "skin a.png"];
    expect(&throng_import::file(&path, &fewer).unwrap(), &of_document);
    let added = throng_import::add_clips(&imported, &path, &options);
    expect(&added.unwrap(), &of_document);
    // Only bytes, and files that the caller provides.
    assert!(
        throng_import::bytes(&arm().glb(), &options)
            .unwrap()
            .files
            .is_empty()
    );
    let bin = b.bin.clone();
    let resources = Some(ResourceReader::new(move |_: &str| Ok(bin.clone())));
    let options = ImportOptions { resources, ..fewer };
    expect(
        &throng_import::file(&path, &options).unwrap(),
        &["arm.gltf"],
    );
}

#[test]
fn errors_about_options_name_the_file_or_the_option() {
    let path = folder("import_options").join("arm.glb");
    std::fs::write(&path, arm().glb()).unwrap();
    let refused = |options: ImportOptions| {
        throng_import::file(&path, &options)
            .unwrap_err()
            .to_string()
    };
    let scene = refused(ImportOptions {
        scene: Some(9),
        ..ImportOptions::default()
    });
    scene.says("arm.glb: scene 9 does not exist: there are 1");
    let node = refused(ImportOptions {
        leave_out: vec!["nope".into()],
        ..ImportOptions::default()
    });
    let words = "arm.glb: node to leave out \"nope\" does not exist: there are ";
    node.says(format!("{words}…"));
    let packing = Some(ClipOptions {
        error_m: Some(-1.0),
        ..ClipOptions::default()
    });
    let bound = refused(ImportOptions {
        packing,
        ..ImportOptions::default()
    });
    bound.says("clip error_m: -1 must be more than 0");
}

#[test]
fn files_through_the_callers_reader() {
    let b = arm();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (log, bin) = (Arc::clone(&asked), b.bin.clone());
    let read = move |uri: &str| {
        log.lock().unwrap().push(uri.to_owned());
        Ok(bin.clone())
    };
    let file = b.gltf_beside("./a%20b.bin");
    let options = ImportOptions {
        resources: Some(ResourceReader::new(read)),
        ..ImportOptions::curves_only()
    };
    let c = throng_import::bytes(&file, &options).unwrap();
    assert_eq!(c.primitives(), import(&b).primitives());
    assert_eq!(*asked.lock().unwrap(), ["./a b.bin"], "decoded, and once");
}

#[test]
fn chunks_that_are_not_known_are_skipped() {
    let b = arm();
    let mut file = b.glb();
    file.extend([4, 0, 0, 0]);
    file.extend(b"XTRA");
    file.extend([1, 2, 3, 4]);
    let length = file.len() as u32;
    file[8..12].copy_from_slice(&length.to_le_bytes());
    let c = throng_import::bytes(&file, &ImportOptions::curves_only()).unwrap();
    assert_eq!(c.repairs, []);
    file.extend(b"tail");
    let c = throng_import::bytes(&file, &ImportOptions::curves_only()).unwrap();
    assert!(has(&c, RepairKind::TrailingBytes, 4));
    let json = b"{\"asset\":{\"version\":\"2.0\"}}";
    assert!(
        throng_import::bytes(&glb(json, None), &ImportOptions::curves_only()).is_err(),
        "nothing to draw"
    );
}

#[test]
fn extensions_that_are_not_required_are_ignored() {
    let mut b = arm();
    b.json["extensionsUsed"] = json!(["VENDOR_anything"]);
    b.json["extensions"] = json!({ "VENDOR_anything": [1, { "deep": null }] });
    b.json["nodes"][0]["extensions"] = json!({ "VENDOR_anything": "x" });
    b.json["nodes"][0]["extras"] = json!([[[["y"]]]]);
    b.json["extensionsRequired"] = json!(["KHR_materials_unlit"]);
    assert_eq!(import(&b).character, import(&arm()).character);
}

/// In a build without these readers.
#[cfg(not(all(feature = "ezm", feature = "wgl")))]
#[test]
fn a_format_without_its_reader_names_the_feature() {
    let folder = folder("import_without_reader");
    let refused = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        let error = throng_import::file(&path, &ImportOptions::default());
        error.unwrap_err().to_string()
    };
    if cfg!(not(feature = "ezm")) {
        refused("a.ezm", "<Mesh/>").says(
            "a.ezm: file: is an EZMesh file, which needs the Cargo feature `ezm` of \
                 throng-import",
        );
    }
    if cfg!(not(feature = "wgl")) {
        refused("a.wglmodel", "{\"modelVersion\": 1}").says(
            "a.wglmodel: file: is a WebGL model, which needs the Cargo feature `wgl` of \
                 throng-import",
        );
    }
}
