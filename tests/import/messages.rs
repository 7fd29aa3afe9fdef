//! The words of errors and repairs.

use crate::builder::*;
use crate::help::*;
use crate::reference::cases;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use throng::character::Character;
use throng::error::{AssetFault, Escaped};
use throng::import::{ImportOptions, RepairKind, ResourceReader};

/// The text of a file that Git LFS did not download.
const POINTER: &str = "version https://git-lfs.github.com/spec/v1\n\
    oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n\
    size 12345\n";
const LFS: &str = "is only a Git LFS pointer: run `git lfs pull` to download the file itself";

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    drop(std::fs::remove_dir_all(&folder));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn pointers_of_git_lfs_are_named() {
    let folder = folder("lfs_pointers");
    for name in [
        "a.glb",
        "a.gltf",
        "a.vrm",
        "a.fbx",
        "a.ezm",
        "a.wglmodel",
        "a.wglvert",
        "a.wglanim",
        "a.throng",
        "a",
        "a.dat",
    ] {
        let path = folder.join(name);
        std::fs::write(&path, POINTER).unwrap();
        let words = format!("{name}: file: {LFS}");
        let error = throng_import::file(&path, &ImportOptions::default()).unwrap_err();
        assert_eq!(error.to_string(), words);
        let knight = import(&arm());
        let error = throng_import::add_clips(&knight, &path, &ImportOptions::default());
        assert_eq!(error.unwrap_err().to_string(), words);
    }
    Character::from_bytes(POINTER.as_bytes(), &Default::default())
        .fails(format!("saved character: {LFS}"));
    // Windows ends lines differently, and the format had other names.
    for text in [
        POINTER.replace('\n', "\r\n"),
        POINTER.replace("git-lfs.github.com", "hawser.github.com"),
    ] {
        assert_eq!(refused(text.as_bytes()), format!("f: file: {LFS}"));
    }
}

#[test]
fn pointers_beside_a_file_are_named() {
    let folder = folder("lfs_beside");
    let path = folder.join("arm.gltf");
    std::fs::write(&path, arm().gltf_beside("arm.bin")).unwrap();
    std::fs::write(folder.join("arm.bin"), POINTER).unwrap();
    let words = format!("arm.gltf: buffer 0: refers to \"arm.bin\", which {LFS}");
    let error = throng_import::file(&path, &ImportOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), words);
    let options = ImportOptions {
        name: "arm.gltf".into(),
        resources: Some(ResourceReader::new(|_| Ok(POINTER.into()))),
        ..ImportOptions::default()
    };
    let error = throng_import::bytes(&arm().gltf_beside("arm.bin"), &options).unwrap_err();
    assert_eq!(error.to_string(), words);
    // A description, and a state machine that it names.
    let path = folder.join("arm.glb");
    std::fs::write(&path, arm().glb()).unwrap();
    let toml = folder.join("arm.toml");
    std::fs::write(&toml, POINTER).unwrap();
    throng_import::file(&path, &ImportOptions::default())
        .fails(format!("arm.toml: animation: {LFS}"));
    std::fs::write(&toml, "state_machine_file = 'machine.toml'").unwrap();
    std::fs::write(folder.join("machine.toml"), POINTER).unwrap();
    throng_import::file(&path, &ImportOptions::default())
        .fails(format!("machine.toml: state machine: {LFS}"));
}

#[test]
fn images_that_are_pointers_are_replaced_and_named() {
    let mut b = triangle();
    let image = b.add("images", json!({ "uri": "skin.png" }));
    let texture = b.add("textures", json!({ "source": image }));
    let color = json!({ "baseColorTexture": { "index": texture } });
    let material = b.add("materials", json!({ "pbrMetallicRoughness": color }));
    b.json["meshes"][0]["primitives"][0]["material"] = json!(material);
    let options = ImportOptions {
        resources: Some(ResourceReader::new(|_| Ok(POINTER.into()))),
        ..options()
    };
    let imported = throng_import::bytes(&b.glb(), &options).unwrap();
    let why = AssetFault::Resource {
        uri: "skin.png".into(),
        why: LFS,
    };
    assert!(has(&imported, RepairKind::ImageReplaced(Box::new(why)), 1));
}

#[test]
fn older_versions_of_gltf_are_named() {
    let mut glb = arm().glb();
    glb[4] = 1;
    refused(&glb).says("f: file: requires glTF 1.0, which is not supported");
    let words = "f: file, asset.version: requires glTF 1.0, which is not supported";
    let maps = json!({
        "scenes": { "defaultScene": { "nodes": ["node_1"] } },
        "nodes": { "node_1": { "children": [], "meshes": ["mesh"] } },
        "meshes": { "mesh": { "primitives": [{ "attributes": { "POSITION": "accessor_1" } }] } },
    });
    let with = |asset: Value| {
        let mut file = maps.clone();
        if !asset.is_null() {
            file["asset"] = asset;
        }
        let options = ImportOptions {
            name: "f.gltf".into(),
            ..options()
        };
        let bytes = file.to_string();
        let error = throng_import::bytes(bytes.as_bytes(), &options).unwrap_err();
        error.to_string().replace("f.gltf: ", "f: ")
    };
    assert_eq!(with(json!({ "version": "1.0" })), words);
    assert_eq!(with(json!({ "version": 1.0 })), words);
    assert_eq!(with(json!({ "version": 1 })), words);
    assert_eq!(with(json!({ "premultipliedAlpha": true })), words);
    assert_eq!(with(Value::Null), words);
    assert_eq!(
        with(json!({ "version": "0.8" })),
        words.replace("1.0", "0.8")
    );
    // The version is right, and the contents are not.
    let broken = with(json!({ "version": "2.0" }));
    broken.says("…must be an array, but is an object…");
}

const HOSTILE: [&str; 8] = [
    "\u{1b}[2J\u{1b}[31mred",
    "two\nlines",
    "back\rward\u{8}\u{7f}",
    "\u{9b}31mred",
    "gnp.\u{202e}cod",
    "\u{2066}isolated\u{2069}",
    "line\u{2028}para\u{2029}",
    "in\u{200b}visible\u{feff}",
];

/// No character that a terminal or a text layout acts upon.
#[track_caller]
fn harmless(text: &str) {
    let is_bad = |c: char| {
        let is_turn =
            ('\u{2028}'..='\u{202e}').contains(&c) || ('\u{2066}'..='\u{2069}').contains(&c);
        c.is_control() || is_turn || matches!(c, '\u{200b}' | '\u{feff}')
    };
    assert!(!text.contains(is_bad), "{text:?}");
}

#[test]
fn names_in_errors_and_repairs_are_escaped() {
    for name in HOSTILE {
        let mut b = arm();
        for list in ["nodes", "meshes", "animations", "skins"] {
            for object in b.json[list].as_array_mut().into_iter().flatten() {
                object["name"] = json!(name);
            }
        }
        let imported = throng_import::bytes(&b.glb(), &ImportOptions::default()).unwrap();
        for words in [
            imported.clip("no").unwrap_err().to_string(),
            imported
                .clip(&format!("{name}{name}"))
                .unwrap_err()
                .to_string(),
            imported.skeleton().joint("no").unwrap_err().to_string(),
        ] {
            harmless(&words);
            words.says("…does not exist…");
        }
        let options = ImportOptions {
            name: name.into(),
            ..options()
        };
        let mut broken = b.clone();
        broken.json["extensionsRequired"] = json!([name]);
        harmless(
            &throng_import::bytes(&broken.glb(), &options)
                .unwrap_err()
                .to_string(),
        );
        let error = throng_import::bytes(&b.gltf_beside(name), &options).unwrap_err();
        harmless(&error.to_string());
        let mut repaired = b.clone();
        repaired.json["materials"] = json!([{ "name": name, "extensions": {
            "KHR_materials_clearcoat": {} } }]);
        repaired.json["meshes"][0]["primitives"][0]["material"] = json!(0);
        let imported = throng_import::bytes(&repaired.glb(), &options).unwrap();
        assert!(!imported.repairs.is_empty());
        for line in imported.repair_summary() {
            harmless(&line);
        }
        let all: Vec<String> = imported.repairs.iter().map(ToString::to_string).collect();
        harmless(&all.concat());
        harmless(
            &throng::Error::Io {
                path: name.into(),
                kind: std::io::ErrorKind::NotFound,
            }
            .to_string(),
        );
    }
    assert_eq!(Escaped("a\u{1b}b\"\\c").to_string(), "a\\u{1b}b\"\\c");
    // Scripts and emoji that need joiners.
    for name in ["می‌خواهم", "👩‍🚀", "Ünïcödé", "走る"] {
        assert_eq!(Escaped(name).to_string(), name);
    }
}

#[test]
fn the_nearest_names_come_first() {
    let mut b = arm();
    let one = b.json["animations"][0].clone();
    let names = [
        "Idle", "Attack", "Run", "RunBack", "Swim", "Walk", "Wave", "Jump",
    ];
    b.json["animations"] = names
        .iter()
        .map(|name| {
            let mut one = one.clone();
            one["name"] = json!(name);
            one
        })
        .collect();
    let imported = import(&b);
    let known = |name: &str| {
        let words = imported.clip(name).unwrap_err().to_string();
        let (start, known) = words.split_once(": there are ").unwrap();
        let shown: String = name.chars().take(200).collect();
        start.says(format!("clip \"{shown}…"));
        known.to_owned()
    };
    known("Wlak").says("Walk, Idle…");
    known("walk").says("Walk, …");
    known("run_back").says("RunBack, Run, Idle…");
    known("Running").says("Run, …");
    known("Atack").says("Attack, Idle, Run…");
    // Nothing is near: the order of the file.
    assert_eq!(known("Xyz"), names.join(", "));
    assert_eq!(known(""), names.join(", "));
    assert_eq!(known(&"Walk".repeat(1000)), names.join(", "));
}

#[test]
fn json_errors_have_the_words_of_the_format() {
    let b = arm();
    for (case, path, value, words) in cases![
        "/nodes", json!({}) => "f: file, nodes: must be an array, but is an object";
        "/nodes/1/name", json!([]) => "f: node 1, name: must be a string, but is an array";
        "/nodes/1/name", json!({}) => "f: node 1, name: must be a string, but is an object";
        "/nodes/1/name", json!(true) => "f: node 1, name: must be a string, but is true";
        "/nodes/1", json!("x") => "f: node 1: must be an object, but is the string \"x\"";
        "/nodes/1", json!(7) => "f: node 1: must be an object, but is 7";
        "/nodes/1/translation", json!([1, 2])
            => "f: node 1, translation: must be an array of 3 elements, but has 2";
        "/nodes/1/translation", json!([1, 2, "x"])
            => "f: node 1, translation[2]: must be a number, but is the string \"x\"";
        "/accessors/0/count", json!(-1)
            => "f: accessor 0, count: must be an integer of at least 0, but is -1";
        "/animations/0/channels/0/target", json!({})
            => "f: animation 0, channels[0].target: missing field \"path\"";
        "/asset/version", json!(2.0) => "f: file, asset.version: must be a string, but is 2.0";
    ] {
        with(&b, path, value).says_in(case, format!("{words}…"));
    }
    let text = String::from_utf8(b.gltf()).unwrap();
    let options = ImportOptions {
        name: "f.gltf".into(),
        ..options()
    };
    for (text, words) in [
        ("v", "is not JSON: a value must be here"),
        ("", "the text ends where a value must be"),
        (&text[..text.len() - 1], "the text ends inside an object"),
        (&format!("{text}x"), "text follows the end of the JSON"),
        ("{\"asset\" 1}", "a colon must be here"),
        (
            "{\"asset\":{\"version\":\"2.0\",}}",
            "a comma is before the end of an array or object",
        ),
        (
            "{\"asset\":{\"version\":tru}}",
            "is not JSON: a value must be here, such as true",
        ),
    ] {
        let error = throng_import::bytes(text.as_bytes(), &options)
            .unwrap_err()
            .to_string();
        let start = format!("f.gltf: file: {words}");
        let start_of_part = format!(": {words}");
        assert!(
            error.starts_with(&start) || error.contains(&start_of_part),
            "{error}"
        );
        for rust in ["EOF", "expected", "map", "sequence", "struct", "ident", "`"] {
            assert!(!error.contains(rust), "{error}");
        }
    }
}

/// A file whose meshes have no skin says how they move.
#[test]
fn a_file_without_a_skin_says_so() {
    let options = ImportOptions::curves_only();
    let imported = throng_import::bytes(&triangle().glb(), &options).unwrap();
    assert_eq!(
        imported.repair_summary(),
        ["file: no mesh has a skin, so each follows the joint of its node (1)"]
    );
    assert_eq!(imported.skeleton().len(), 1);
    assert!(
        !import(&arm())
            .repairs
            .iter()
            .any(|it| it.kind == RepairKind::NoSkin)
    );
}

#[test]
#[cfg_attr(not(models), ignore = "needs the models of THRONG_ASSETS")]
fn published_files_without_a_skin_say_so() {
    let folder = PathBuf::from(std::env::var_os("THRONG_ASSETS").unwrap());
    for (name, skinned) in [
        ("AnimatedMorphCube/AnimatedMorphCube.gltf", false),
        ("InterpolationTest/InterpolationTest.gltf", false),
        ("Fox.glb", true),
    ] {
        let imported =
            throng_import::file(folder.join(name), &ImportOptions::curves_only()).unwrap();
        let said = imported
            .repairs
            .iter()
            .find(|it| it.kind == RepairKind::NoSkin);
        assert_eq!(said.is_none(), skinned, "{name}");
        let count = imported.primitives().len() as u64;
        assert!(said.is_none_or(|it| it.count == count), "{name}");
    }
}

#[test]
fn a_file_that_does_not_exist_says_so() {
    let path = folder("nothing").join("knight.glb");
    let error = throng_import::file(&path, &ImportOptions::default()).unwrap_err();
    let words = format!("{} cannot be read: it does not exist", path.display());
    assert_eq!(error.to_string(), words);
}

/// The checks of messages in these tests can fail.
#[test]
fn patterns_match_what_they_describe() {
    for (pattern, is_matched) in [
        ("one two three", true),
        ("one two", false),
        ("one…", true),
        ("two…", false),
        ("…three", true),
        ("…two", false),
        ("…two…", true),
        ("…four…", false),
        ("one…three", true),
        ("one…two…three", true),
        ("…two…one…", false),
        ("one two…two three", false),
    ] {
        let checked = std::panic::catch_unwind(|| "one two three".says(pattern));
        assert_eq!(checked.is_ok(), is_matched, "{pattern}");
        let result = Err::<(), _>("one two three");
        let checked = std::panic::catch_unwind(|| result.fails(pattern));
        assert_eq!(checked.is_ok(), is_matched, "{pattern}");
    }
    assert!(std::panic::catch_unwind(|| Ok::<(), &str>(()).fails("…")).is_err());
}
