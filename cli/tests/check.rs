//! Tests of `throng check`.

use crate::{ODD, document, folder, odd_gltf, run, text, write};
use serde_json::json;
use std::path::{MAIN_SEPARATOR, Path};
use std::process::Stdio;

#[test]
fn all_files_are_checked() {
    let folder = folder("check");
    let odd = write(&folder, "odd.gltf", odd_gltf());
    let cut = write(&folder, "cut.glb", b"glTF\0");
    let empty = write(&folder, "empty.throng", b"");
    let ran = run(&["check", "builtin", &cut, &odd, &empty, "missing.glb"]);
    assert_eq!(ran.status, 1);
    assert_eq!(ran.err, "");
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines[0], "builtin: ok (57 joints, 4,234 vertices, 4 clips)");
    assert!(
        lines[1].starts_with(&format!("{cut}: FAULTY: file: ")),
        "{}",
        lines[1]
    );
    assert_eq!(
        lines[2],
        format!("{odd}: ok, 1 repair (1 joint, 1 vertex, 0 clips)")
    );
    assert_eq!(lines[3], format!("    {}", ODD.trim_end()));
    let words = "saved character: the bytes do not start with the signature";
    assert_eq!(lines[4], format!("{empty}: FAULTY: {words}"));
    let words = "missing.glb: FAULTY: missing.glb cannot be read: it does not exist";
    assert_eq!(lines[5], words);
    assert_eq!(lines[6..], ["5 files: 2 sound, 1 with repairs, 3 faulty"]);
}

#[test]
fn strict_counts_repairs() {
    let odd = write(&folder("check strict"), "odd.gltf", odd_gltf());
    assert_eq!(run(&["check", &odd]).status, 0);
    let ran = run(&["check", "--strict", "--quiet", "builtin", &odd]);
    assert_eq!(ran.status, 1);
    let words = format!("{odd}: FAULTY: 1 repair (1 joint, 1 vertex, 0 clips)\n    {ODD}");
    assert_eq!(ran.out, words);
    assert_eq!(run(&["check", "--strict", "builtin"]).status, 0);
}

/// A reader that stops early does not hide a fault.
#[test]
fn a_closed_output_keeps_the_status() {
    let folder = folder("check closed");
    let cut = write(&folder, "cut.glb", b"glTF");
    for (args, status) in [
        (&["check", &cut, "builtin"][..], 1),
        (&["check", "builtin", &cut], 1),
        (&["check", "--quiet", "builtin", &cut], 1),
        (&["check", "builtin", "builtin"], 0),
    ] {
        let mut child = crate::command(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            (output.status.code(), &*err),
            (Some(status), ""),
            "{args:?}"
        );
    }
}

#[test]
fn every_model_is_sound() {
    let files = crate::models("check models");
    let files: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
    let ran = run(&[&["check"], &*files].concat());
    assert_eq!(ran.status, 0, "{}", ran.out);
    assert!(ran.out.ends_with(" 0 faulty\n"), "{}", ran.out);
}

/// A folder with models, other files, folders, and a link to itself.
fn tree(name: &str) -> std::path::PathBuf {
    let folder = folder(name);
    for inner in ["b/deep", "a", ".hidden"] {
        std::fs::create_dir_all(folder.join(inner)).unwrap();
    }
    write(&folder, "b/deep/odd.gltf", odd_gltf());
    write(&folder, "b/CUT.GLB", b"glTF");
    write(&folder, "a/odd.gltf", odd_gltf());
    write(&folder, "c.gltf", odd_gltf());
    write(&folder, ".hidden/cut.glb", b"glTF");
    for other in [
        "notes.txt",
        "texture.png",
        "data.bin",
        "p.wglvert",
        "no extension",
    ] {
        write(&folder, other, b"?");
    }
    folder
}

/// The lines of files, by their paths in a folder, with slashes.
fn names(out: &str, folder: &Path) -> Vec<String> {
    let start = format!("{}{MAIN_SEPARATOR}", text(folder));
    let lines = out.lines().filter_map(|line| line.strip_prefix(&start));
    let names = lines.map(|line| line.split(": ").next().unwrap());
    names
        .map(|name| name.replace(MAIN_SEPARATOR, "/"))
        .collect()
}

#[test]
fn folders_are_checked_in_order() {
    let folder = tree("check folders");
    let ran = run(&["check", &text(&folder)]);
    assert_eq!(ran.status, 1, "{}", ran.err);
    let all = ["a/odd.gltf", "b/CUT.GLB", "b/deep/odd.gltf", "c.gltf"];
    assert_eq!(names(&ran.out, &folder), all);
    assert!(
        ran.out
            .ends_with("4 files: 3 sound, 3 with repairs, 1 faulty\n"),
        "{}",
        ran.out
    );
    // A file that is named is checked whatever its name.
    let other = text(&folder.join("notes.txt"));
    let ran = run(&["check", &text(&folder.join("a")), &other]);
    assert_eq!(ran.status, 1);
    assert!(ran.out.contains("notes.txt: FAULTY"), "{}", ran.out);
    let empty = crate::folder("check empty");
    let ran = run(&["check", &text(&empty)]);
    assert_eq!(
        (ran.status, &*ran.err),
        (0, &*format!("note: {}: no files to check\n", text(&empty)))
    );
    assert_eq!(ran.out, "0 files: 0 sound, 0 with repairs, 0 faulty\n");
}

#[cfg(unix)]
#[test]
fn links_end_and_unreadable_entries_are_told() {
    use std::os::unix::fs::symlink;
    let folder = tree("check links");
    symlink(&folder, folder.join("a/up")).unwrap();
    symlink("../b", folder.join("a/twin")).unwrap();
    symlink("loop.glb", folder.join("loop.glb")).unwrap();
    symlink("nowhere", folder.join("z.glb")).unwrap();
    let ran = run(&["check", "--quiet", &text(&folder)]);
    assert_eq!(ran.status, 1);
    // The folder that two paths lead to is visited where it is met first.
    let all = ["a/twin/CUT.GLB", "loop.glb", "z.glb"];
    assert_eq!(names(&ran.out, &folder), all);
    assert_eq!(
        ran.out.matches("FAULTY: cannot be read: ").count(),
        2,
        "{}",
        ran.out
    );
}

#[test]
fn the_depth_of_folders_is_bounded() {
    let folder = folder("check deep");
    let mut deep = folder.clone();
    for _ in 0..70 {
        deep.push("d");
    }
    std::fs::create_dir_all(&deep).unwrap();
    write(&deep, "odd.gltf", odd_gltf());
    let ran = run(&["check", &text(&folder)]);
    assert_eq!(ran.status, 1);
    let told = "FAULTY: cannot be read: lies more than 64 folders deep: not checked\n";
    assert!(ran.out.contains(told), "{}", ran.out);
}

#[test]
#[cfg_attr(
    windows,
    ignore = "under wine, which searches the whole folder for each new file, this takes hours"
)]
fn the_number_of_entries_is_bounded() {
    let folder = folder("check many");
    for number in 0..100_001 {
        std::fs::File::create(folder.join(number.to_string())).unwrap();
    }
    let ran = run(&["check", &text(&folder)]);
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(ran.status, 1);
    let told = "FAULTY: cannot be read: more than 100000 entries: the rest is not checked\n";
    assert!(ran.out.contains(told), "{}", ran.out);
}

#[test]
fn json_has_the_facts_of_the_text() {
    let folder = tree("check json");
    let ran = run(&["check", "--json", "builtin", &text(&folder)]);
    assert_eq!((ran.status, &*ran.err), (1, ""));
    let found = document(&ran.out);
    assert_eq!(found["format"], 1);
    let counts = ["checked", "sound", "repaired", "faulty"].map(|key| found[key].as_u64());
    assert_eq!(counts, [5, 4, 3, 1].map(Some));
    let files = found["files"].as_array().unwrap();
    assert_eq!(
        files[0],
        json!({
            "file": "builtin", "verdict": "sound", "error": null, "repairs": [],
            "joints": 57, "vertices": 4234, "clips": 4,
        })
    );
    let repair = json!({
        "file": "odd.gltf", "object": "mesh 0, primitives[0].indices", "count": 1,
        "repair": "trailing indices that make no full triangle dropped",
    });
    assert_eq!(files[1]["repairs"], json!([repair]));
    assert_eq!(files[1]["verdict"], "sound");
    let name = text(&folder.join("b").join("CUT.GLB"));
    assert_eq!(
        (&files[2]["file"], &files[2]["verdict"]),
        (&json!(name), &json!("faulty"))
    );
    assert!(
        files[2]["error"].as_str().unwrap().starts_with("file: "),
        "{}",
        files[2]
    );
    assert!(files[2]["joints"].is_null());
    // Faulty ones only, and repairs as faults.
    let ran = run(&[
        "check",
        "--json",
        "--quiet",
        "--strict",
        "builtin",
        &text(&folder),
    ]);
    let found = document(&ran.out);
    assert_eq!(found["files"].as_array().unwrap().len(), 4);
    assert_eq!(
        (&found["checked"], &found["faulty"]),
        (&json!(5), &json!(4))
    );
    let ran = run(&["check", "--json", "--quiet", "builtin"]);
    assert_eq!((ran.status, &document(&ran.out)["files"]), (0, &json!([])));
}

/// Reasons for posing on the CPU are listed with advice, except for faulty files.
#[test]
fn what_the_cpu_poses_is_told() {
    let doll = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../examples/viewer/tests/doll.vrm"
    );
    let ran = run(&["check", "--posed-by", "builtin", doll, "missing.glb"]);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines[1], "    all clips can be posed on the GPU");
    let springs =
        "    it is posed on the CPU: spring bones; switch them off where nobody sees them";
    assert!(
        lines.iter().any(|line| line.starts_with(springs)),
        "{}",
        ran.out
    );
    let ran = run(&["check", "--posed-by", "--json", "builtin", doll]);
    let files = &document(&ran.out)["files"];
    assert_eq!(files[0]["on_cpu"], json!(null));
    assert_eq!(files[1]["on_cpu"]["reason"], "spring bones");
    let ran = run(&["check", "--json", "builtin"]);
    assert!(document(&ran.out)["files"][0].get("on_cpu").is_none());
}
