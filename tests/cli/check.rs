//! Tests of `throng check`.

use crate::{ODD, folder, odd_gltf, run, write};
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
    assert_eq!(lines[0], "builtin: ok (57 joints, 4,117 vertices, 4 clips)");
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
    let words = "missing.glb: FAULTY: missing.glb cannot be read: entity not found";
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
