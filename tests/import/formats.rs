//! Files of all formats through `throng_import::file` and `throng_import::bytes`: recognition by
//! content or name.

use crate::builder::arm;
use crate::reference::words::{Fails, Says};
use crate::samples::{WGL_CLIP, WGL_MODEL, ezm_text, import_wgl, wgl_triangle};
use std::fs;
use std::path::PathBuf;
use throng::Error;
use throng::error::AssetFault;
use throng::import::{ImportLimits, ImportOptions, ResourceReader};

/// A fresh folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    drop(fs::remove_dir_all(&folder));
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn options() -> ImportOptions {
    ImportOptions::curves_only()
}

fn named(name: &str) -> ImportOptions {
    ImportOptions {
        name: name.into(),
        ..options()
    }
}

const UNKNOWN: &str = "has no known format; \
                       glTF 2.0, FBX, EZMesh, WebGL models and saved characters are read";

#[test]
fn every_format_is_recognised_by_content() {
    let folder = folder("formats_by_content");
    fs::write(folder.join("odd.wglvert"), wgl_triangle()).unwrap();
    let saved = throng_import::bytes(&arm().glb(), &options()).unwrap();
    let json = serde_json::to_vec(&arm().json).unwrap();
    let bin = arm().bin;
    let files: [(Vec<u8>, usize); 6] = [
        (arm().glb(), saved.skeleton().len()),
        (saved.to_bytes(), saved.skeleton().len()),
        (ezm_text().into_bytes(), 3),
        (
            b"\xef\xbb\xbf \n"
                .iter()
                .copied()
                .chain(
                    ezm_text()
                        .trim_start_matches("<?xml version=\"1.0\"?>")
                        .bytes(),
                )
                .collect(),
            3,
        ),
        (WGL_MODEL.as_bytes().to_vec(), 3),
        (WGL_CLIP.as_bytes().to_vec(), 3),
    ];
    for (index, (bytes, joints)) in files.into_iter().enumerate() {
        // The names are those of other formats.
        for name in ["odd.glb", "odd.ezm", "odd.wglanim", "odd"] {
            let path = folder.join(name);
            fs::write(&path, &bytes).unwrap();
            let imported = throng_import::file(&path, &options());
            let imported = imported.unwrap_or_else(|error| panic!("{index} {name}: {error}"));
            assert_eq!(imported.skeleton().len(), joints, "{index} {name}");
        }
    }
    // A .gltf with a buffer from elsewhere.
    let path = folder.join("odd.txt");
    let text = String::from_utf8(json).unwrap();
    let text = text.replacen("\"byteLength\"", "\"uri\":\"a.bin\",\"byteLength\"", 1);
    fs::write(
        &path,
        if text.contains("a.bin") {
            arm().gltf_beside("a.bin")
        } else {
            text.into()
        },
    )
    .unwrap();
    fs::write(folder.join("a.bin"), bin).unwrap();
    let imported = throng_import::file(&path, &options()).unwrap();
    assert_eq!(imported.character.skeleton(), saved.skeleton());
}

#[test]
fn text_that_mentions_fbx_is_not_fbx() {
    let folder = folder("formats_not_fbx");
    let mut b = arm();
    b.json["asset"]["generator"] = "FBX2glTF; FBX SDK 2020, FBXHeaderExtension: 1".into();
    fs::write(folder.join("a.bin"), &b.bin).unwrap();
    fs::write(folder.join("odd.wglvert"), wgl_triangle()).unwrap();
    let comment = "<!-- Exported from walk.fbx\n; FBX 2010 -->\n<MeshSystem";
    let files: [(Vec<u8>, usize); 3] = [
        (
            b.gltf_beside("a.bin"),
            b.json["nodes"].as_array().unwrap().len(),
        ),
        (ezm_text().replacen("<MeshSystem", comment, 1).into(), 3),
        (
            WGL_MODEL.replacen("\"player\"", "\"a; FBX b\"", 1).into(),
            3,
        ),
    ];
    for (bytes, joints) in files {
        for marked in [bytes.clone(), [b"\xef\xbb\xbf\n", &bytes[..]].concat()] {
            let path = folder.join("odd");
            // A BOM is not followed by a blank line before `<?xml`.
            let marked = match bytes.starts_with(b"<?xml") && marked != bytes {
                true => [b"\xef\xbb\xbf", &bytes[..]].concat(),
                false => marked,
            };
            fs::write(&path, &marked).unwrap();
            let imported = throng_import::file(&path, &options());
            let imported = imported.unwrap_or_else(|error| panic!("{error}"));
            assert!(imported.skeleton().len() <= joints);
        }
    }
}

#[test]
fn what_has_no_format_is_refused() {
    let folder = folder("formats_unknown");
    let refused = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        fs::write(&path, bytes).unwrap();
        throng_import::file(&path, &options())
            .unwrap_err()
            .to_string()
    };
    refused("a.obj", b"v 0 0 0").says(format!("a.obj: file: {UNKNOWN}"));
    assert_eq!(refused("a", b""), format!("a: file: {UNKNOWN}"));
    refused("a.json", b"{\"b\": {\"asset\": 1}}").says(format!("a.json: file: {UNKNOWN}"));
    // By name.
    refused("a.glb", b"v").says("a.glb: file: is not JSON: a value must be here…");
    refused("a.ezm", b"v").says("…line 1…");
    refused("a.wglmodel", b"v").says("…a value must be here…");
    refused("a.wglvert", &wgl_triangle())
        .says("a.wglvert: file: has only vertices; the .wglmodel of the same name is imported");
    throng_import::file(folder.join("none.ezm"), &options()).fails("…cannot be read…");
    assert!(throng_import::file(&folder, &options()).is_err());
}

/// The contents decide, whatever the name says, and a name is not needed.
#[test]
fn bytes_of_every_format_are_recognised() {
    let saved = throng_import::bytes(&arm().glb(), &options()).unwrap();
    let joints = saved.skeleton().len();
    let files = [
        (arm().glb(), joints),
        (arm().gltf(), joints),
        (saved.to_bytes(), joints),
        (ezm_text().into_bytes(), 3),
        (WGL_CLIP.as_bytes().to_vec(), 3),
        #[cfg(feature = "fbx")]
        (crate::ascii::arm().0.text().into_bytes(), {
            let text = crate::ascii::arm().0.text();
            let path = folder("formats_fbx_bytes").join("arm.fbx");
            fs::write(&path, text).unwrap();
            throng_import::file(&path, &options())
                .unwrap()
                .skeleton()
                .len()
        }),
    ];
    for (index, (bytes, joints)) in files.into_iter().enumerate() {
        for name in [
            "",
            "odd",
            "odd.glb",
            "odd.ezm",
            "odd.wglmodel",
            "odd.throng",
        ] {
            let imported = throng_import::bytes(&bytes, &named(name));
            let imported = imported.unwrap_or_else(|error| panic!("{index} {name}: {error}"));
            assert_eq!(imported.skeleton().len(), joints, "{index} {name}");
        }
    }
    for name in ["odd", "odd.glb", "odd.wglanim"] {
        let model = import_wgl(WGL_MODEL.as_bytes(), &wgl_triangle(), &named(name)).unwrap();
        assert_eq!(model.primitives().len(), 1, "{name}");
    }
}

#[test]
fn the_name_decides_about_bytes_that_fit_no_format_or_several() {
    let refused = |name: &str, bytes: &[u8]| {
        let error = throng_import::bytes(bytes, &named(name))
            .unwrap_err()
            .to_string();
        let file = format!("{}: file", if name.is_empty() { "unnamed" } else { name });
        let rest = error.strip_prefix(&file).map(str::to_owned);
        rest.unwrap_or_else(|| panic!("{error}"))
    };
    for bytes in [
        &b""[..],
        b"v 0 0 0",
        b"{}",
        b"{\"b\": {\"asset\": 1}}",
        b"[]",
    ] {
        for name in ["", "x", "x.obj", "gltf", ".gltf"] {
            assert_eq!(refused(name, bytes), format!(": {UNKNOWN}"), "{name}");
        }
    }
    refused("x.gltf", b"{}").says("…missing field \"asset\"…");
    refused("folder/x.VRM", b"{}").says("…missing field \"asset\"…");
    refused("x.wglmodel", b"{}").says("…missing field \"meshes\"…");
    refused("x.wglanim", b"{}").says("…missing field \"frameRate\"…");
    refused("x.ezm", b"{}").says("…unknown token (line 1, column 1)…");
    refused("x.wglvert", b"{}").says("…has only vertices…");
    #[cfg(feature = "fbx")]
    assert_eq!(refused("x.fbx", b"{}"), ": is not an FBX file");
    let error = throng_import::bytes(b"{}", &named("x.throng")).unwrap_err();
    assert!(matches!(error, Error::Saved { .. }), "{error}");
    // The path of a file decides, not the name in errors.
    let path = folder("formats_by_path").join("x.gltf");
    fs::write(&path, "{}").unwrap();
    let error = throng_import::file(&path, &named("y.wglmodel")).unwrap_err();
    let words = "y.wglmodel: file: missing field \"asset\"";
    error.says(format!("{words}…"));
}

#[test]
fn bytes_of_saved_characters_are_loaded() {
    let saved = throng_import::bytes(&arm().glb(), &named("arm.glb")).unwrap();
    let bytes = saved.to_bytes();
    let loaded = throng_import::bytes(&bytes, &options()).unwrap();
    assert_eq!(loaded.character, saved.character);
    assert!(loaded.repairs.is_empty());
    match throng_import::bytes(&bytes[..bytes.len() - 1], &named("arm.throng")).unwrap_err() {
        Error::Saved { file, .. } => assert_eq!(&*file, "arm.throng"),
        error => panic!("{error}"),
    }
}

/// Even if the name is the path of a file.
#[test]
fn bytes_refer_to_no_file_on_disk() {
    let folder = folder("formats_bytes_alone");
    fs::write(folder.join("a.bin"), arm().bin).unwrap();
    fs::write(folder.join("man.wglvert"), wgl_triangle()).unwrap();
    fs::write(folder.join("arm.toml"), "no description").unwrap();
    let error = |name: &str, bytes: &[u8]| {
        let options = named(folder.join(name).to_str().unwrap());
        match throng_import::bytes(bytes, &options).unwrap_err() {
            Error::Asset { object, why, .. } => format!("{object}: {why}"),
            error => panic!("{error}"),
        }
    };
    let alone = "which is not available: only bytes were given";
    error("arm.gltf", &arm().gltf_beside("a.bin"))
        .says(format!("buffer 0: refers to \"a.bin\", {alone}"));
    error("man.wglmodel", WGL_MODEL.as_bytes()).says(format!(
        "file, vertices: refers to \"man.wglvert\", {alone}"
    ));
    let path = folder.join("arm.glb");
    fs::write(&path, arm().glb()).unwrap();
    let file = throng_import::file(&path, &options()).unwrap_err();
    assert!(matches!(file, Error::Description { .. }), "{file}");
    throng_import::bytes(&arm().glb(), &named(path.to_str().unwrap())).unwrap();
}

#[test]
fn bytes_of_a_webgl_model_get_their_vertices_by_name() {
    let model = WGL_MODEL.as_bytes();
    let given = |name: &str, expected: &'static str| ImportOptions {
        resources: Some(ResourceReader::new(move |path| {
            assert!(path == expected || path.contains("layer."), "{path}");
            Ok(wgl_triangle())
        })),
        ..named(name)
    };
    for (name, vertices) in [
        ("man", "man.wglvert"),
        ("models/man.wglmodel", "man.wglvert"),
        ("MAN.WGLMODEL", "MAN.WGLVERT"),
    ] {
        throng_import::bytes(model, &given(name, vertices)).unwrap();
    }
    throng_import::bytes(model, &given("", ""))
        .fails("unnamed: file, vertices: are found by the name of the model, which has none");
    let small = ImportOptions {
        limits: ImportLimits {
            resource_bytes: 9,
            ..ImportLimits::default()
        },
        ..given("man", "man.wglvert")
    };
    match throng_import::bytes(model, &small).unwrap_err() {
        Error::Asset { object, why, .. } => {
            assert_eq!(object.to_string(), "file, vertices");
            assert!(matches!(why, AssetFault::Cap { cap: 9, .. }), "{why}");
        }
        error => panic!("{error}"),
    }
}

#[test]
fn a_webgl_model_needs_its_vertices() {
    let folder = folder("formats_wgl");
    let path = folder.join("man.wglmodel");
    fs::write(&path, WGL_MODEL).unwrap();
    throng_import::file(&path, &options()).fails(
        "man.wglmodel: file, vertices: \
         refers to \"man.wglvert\", which cannot be read: it does not exist",
    );
    #[cfg(unix)]
    {
        let outside = folder.join("../outside.wglvert");
        fs::write(&outside, wgl_triangle()).unwrap();
        std::os::unix::fs::symlink("../outside.wglvert", folder.join("man.wglvert")).unwrap();
        throng_import::file(&path, &options()).fails("…is a link out of the folder…");
        fs::remove_file(folder.join("man.wglvert")).unwrap();
    }
    let given = ImportOptions {
        resources: Some(ResourceReader::new(|path| {
            assert!(path == "man.wglvert" || path.contains("layer."), "{path}");
            Ok(wgl_triangle())
        })),
        ..options()
    };
    throng_import::file(&path, &given).unwrap();
    fs::write(folder.join("man.wglvert"), wgl_triangle()).unwrap();
    let model = throng_import::file(&path, &options()).unwrap();
    assert_eq!(model.name(), "man.wglmodel");
    // The vertices have the case of the model's extension, or lower case.
    for (name, vertices) in [
        ("ONE.WGLMODEL", "ONE.WGLVERT"),
        ("Two.WglModel", "Two.WglVert"),
        ("low.WGLMODEL", "low.wglvert"),
    ] {
        let path = folder.join(name);
        fs::write(&path, WGL_MODEL).unwrap();
        let error = throng_import::file(&path, &options())
            .unwrap_err()
            .to_string();
        let first =
            path.with_extension(name[4..].replace("MODEL", "VERT").replace("Model", "Vert"));
        let first = first.file_name().unwrap().to_str().unwrap();
        let words = format!("refers to \"{first}\", which cannot be read: it does not exist");
        error.says(format!("…{words}…"));
        fs::write(folder.join(vertices), wgl_triangle()).unwrap();
        throng_import::file(&path, &options()).unwrap();
    }
    let clip = folder.join("run.wglanim");
    fs::write(&clip, WGL_CLIP).unwrap();
    let added = throng_import::add_clips(&model, &clip, &options()).unwrap();
    assert_eq!(added.curves()[0].name(), "run");
}

#[test]
fn clips_are_added_between_formats() {
    let model = import_wgl(WGL_MODEL.as_bytes(), &wgl_triangle(), &named("man")).unwrap();
    let added = throng_import::add_clips_bytes(&model, ezm_text().as_bytes(), &options()).unwrap();
    assert_eq!(added.curves()[0].name(), "walk");
    let saved = model.to_bytes();
    throng_import::add_clips_bytes(&model, &saved, &options())
        .fails("…is a saved character, whose clips cannot be added…");
    let error = |name: &str, bytes: &[u8]| {
        let error = throng_import::add_clips_bytes(&model, bytes, &named(name)).unwrap_err();
        error.to_string()
    };
    assert_eq!(error("a", b"{}"), format!("a: file: {UNKNOWN}"));
    error("a.wglanim", b"{}").says("…missing field \"frameRate\"…");
    error("a.gltf", b"{}").says("…missing field \"asset\"…");
    let path = folder("formats_clips_by_path").join("x.gltf");
    fs::write(&path, "{}").unwrap();
    let error = throng_import::add_clips(&model, &path, &named("y.wglanim")).unwrap_err();
    let words = "y.wglanim: file: missing field \"asset\"";
    error.says(format!("{words}…"));
}

/// Public samples, if `THRONG_FORMAT_SAMPLES` names their folder. Prints what they hold.
#[test]
#[ignore = "needs files: THRONG_FORMAT_SAMPLES names a folder"]
fn public_samples_are_read() {
    let folder = std::env::var_os("THRONG_FORMAT_SAMPLES").unwrap();
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "THRONG_FORMAT_SAMPLES holds no file");
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        match throng_import::file(&path, &ImportOptions::default()) {
            Err(error) => println!("{name}: {error}"),
            Ok(imported) => {
                let vertices: usize = imported.primitives().iter().map(|p| p.vertex_count()).sum();
                println!(
                    "{name}: {vertices} vertices, {} triangles, {} joints, {} clips",
                    imported.triangle_count(),
                    imported.skeleton().len(),
                    imported.clips().len(),
                );
                for line in imported.repair_summary() {
                    println!("  {line}");
                }
                for clip in path.parent().unwrap().read_dir().unwrap() {
                    let clip = clip.unwrap().path();
                    let is_clip = clip.extension().is_some_and(|part| part == "wglanim");
                    let add = || throng_import::add_clips(&imported, &clip, &options());
                    if let Some(Ok(added)) = is_clip.then(add) {
                        let clips = added.curves().len();
                        println!("  with {clips} clips: {:?}", added.repair_summary());
                    }
                }
            }
        }
    }
}
