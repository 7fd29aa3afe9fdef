//! Files of all formats through `import::file`, which recognises them by content.

use crate::builder::arm;
use crate::samples::{WGL_CLIP, WGL_MODEL, ezm_text, wgl_triangle};
use std::fs;
use std::path::PathBuf;
use throng::import::{self, ImportOptions, ResourceReader};

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

#[test]
fn every_format_is_recognised_by_content() {
    let folder = folder("formats_by_content");
    fs::write(folder.join("odd.wglvert"), wgl_triangle()).unwrap();
    let saved = import::gltf(&arm().glb(), &options()).unwrap();
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
            let imported = import::file(&path, &options());
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
    let imported = import::file(&path, &options()).unwrap();
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
            let imported = import::file(&path, &options());
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
        import::file(&path, &options()).unwrap_err().to_string()
    };
    let unknown = "has no known format; \
                   glTF 2.0, FBX, EZMesh, WebGL models and saved characters are read";
    assert_eq!(
        refused("a.obj", b"v 0 0 0"),
        format!("a.obj: file: {unknown}")
    );
    assert_eq!(refused("a", b""), format!("a: file: {unknown}"));
    assert_eq!(
        refused("a.json", b"{\"b\": {\"asset\": 1}}"),
        format!("a.json: file: {unknown}")
    );
    // By name.
    assert!(refused("a.glb", b"v").starts_with("a.glb: file: expected value"));
    assert!(refused("a.ezm", b"v").contains("line 1"));
    assert!(refused("a.wglmodel", b"v").contains("expected value"));
    assert_eq!(
        refused("a.wglvert", &wgl_triangle()),
        "a.wglvert: file: has only vertices; the .wglmodel of the same name is imported"
    );
    assert!(
        import::file(folder.join("none.ezm"), &options())
            .unwrap_err()
            .to_string()
            .contains("cannot be read")
    );
    assert!(import::file(&folder, &options()).is_err());
}

#[test]
fn a_webgl_model_needs_its_vertices() {
    let folder = folder("formats_wgl");
    let path = folder.join("man.wglmodel");
    fs::write(&path, WGL_MODEL).unwrap();
    let error = import::wgl_file(&path, &options()).unwrap_err().to_string();
    assert_eq!(
        error,
        "man.wglmodel: file, vertices: \
         refers to \"man.wglvert\", which cannot be read: entity not found"
    );
    #[cfg(unix)]
    {
        let outside = folder.join("../outside.wglvert");
        fs::write(&outside, wgl_triangle()).unwrap();
        std::os::unix::fs::symlink("../outside.wglvert", folder.join("man.wglvert")).unwrap();
        let error = import::wgl_file(&path, &options()).unwrap_err().to_string();
        assert!(error.contains("is a link out of the folder"), "{error}");
        fs::remove_file(folder.join("man.wglvert")).unwrap();
    }
    let given = ImportOptions {
        resources: Some(ResourceReader::new(|path| {
            assert_eq!(path, "man.wglvert");
            Ok(wgl_triangle())
        })),
        ..options()
    };
    import::wgl_file(&path, &given).unwrap();
    fs::write(folder.join("man.wglvert"), wgl_triangle()).unwrap();
    let model = import::wgl_file(&path, &options()).unwrap();
    assert_eq!(model.name(), "man.wglmodel");
    // The vertices have the case of the model's extension, or lower case.
    for (name, vertices) in [
        ("MAN.WGLMODEL", "MAN.WGLVERT"),
        ("Man.WglModel", "Man.WglVert"),
        ("low.WGLMODEL", "low.wglvert"),
    ] {
        let path = folder.join(name);
        fs::write(&path, WGL_MODEL).unwrap();
        let error = import::file(&path, &options()).unwrap_err().to_string();
        let first =
            path.with_extension(name[4..].replace("MODEL", "VERT").replace("Model", "Vert"));
        let first = first.file_name().unwrap().to_str().unwrap();
        let words = format!("refers to \"{first}\", which cannot be read: entity not found");
        assert!(error.contains(&words), "{error}");
        fs::write(folder.join(vertices), wgl_triangle()).unwrap();
        import::file(&path, &options()).unwrap();
    }
    let clip = folder.join("run.wglanim");
    fs::write(&clip, WGL_CLIP).unwrap();
    let added = import::add_clips_file(&model, &clip, &options()).unwrap();
    assert_eq!(added.curves()[0].name(), "run");
}

#[test]
fn clips_are_added_between_formats() {
    let model = import::wgl(WGL_MODEL.as_bytes(), &wgl_triangle(), &options()).unwrap();
    let added = import::add_clips(&model, ezm_text().as_bytes(), &options()).unwrap();
    assert_eq!(added.curves()[0].name(), "walk");
    let saved = model.to_bytes();
    let error = import::add_clips(&model, &saved, &options())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("is a saved character, whose clips cannot be added"),
        "{error}"
    );
}

/// Public samples, if `THRONG_FORMAT_SAMPLES` names their folder. Prints what they hold.
#[test]
fn public_samples_are_read() {
    let Some(folder) = std::env::var_os("THRONG_FORMAT_SAMPLES") else {
        return;
    };
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        match import::file(&path, &ImportOptions::default()) {
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
                    let add = || import::add_clips_file(&imported, &clip, &options());
                    if let Some(Ok(added)) = is_clip.then(add) {
                        let clips = added.curves().len();
                        println!("  with {clips} clips: {:?}", added.repair_summary());
                    }
                }
            }
        }
    }
}
