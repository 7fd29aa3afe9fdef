//! Names, paths and errors in the output.

use crate::{command, fails, folder, ok, run, samples, write};

const HOSTILE: &str = "\u{1b}[31mred\nline\u{202e}\u{9b}2J";

/// Control characters other than the line breaks of the program itself, and changes of direction.
#[track_caller]
fn harmless(text: &str) {
    let is_bad = |c: char| c.is_control() && c != '\n' || ('\u{202a}'..='\u{202e}').contains(&c);
    assert!(!text.contains(is_bad), "{text:?}");
    assert!(!text.contains("\nline"), "{text:?}");
}

#[test]
fn names_are_escaped_in_all_output() {
    let folder = folder("words");
    let gltf = serde_json::json!({
        "asset": { "version": "2.0" },
        "nodes": [{ "mesh": 0, "name": HOSTILE }],
        "meshes": [{ "name": HOSTILE, "primitives": [{ "attributes": { "POSITION": 0 },
            "material": 0 }] }],
        "materials": [{ "name": HOSTILE }],
        "animations": [{ "name": HOSTILE, "channels": [{ "sampler": 0,
            "target": { "node": 0, "path": "translation" } }],
            "samplers": [{ "input": 1, "output": 0 }] }],
        "accessors": [{ "bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 4 },
            { "bufferView": 1, "componentType": 5126, "type": "SCALAR", "count": 4 }],
        "bufferViews": [{ "buffer": 0, "byteLength": 48 }, { "buffer": 1, "byteLength": 16 }],
        "buffers": [{ "uri": format!("data:;base64,{}", "A".repeat(64)), "byteLength": 48 },
            { "uri": "data:;base64,AAAAAAAAgD8AAABAAABAQA==", "byteLength": 16 }],
    });
    // Windows allows no control characters in names of files.
    let allowed = |c: &char| cfg!(unix) || !c.is_control();
    let stem: String = HOSTILE.chars().filter(allowed).collect();
    let file = write(&folder, &format!("{stem}.gltf"), gltf.to_string());
    let out = folder.join(format!("{stem}.throng"));
    let out = out.to_str().unwrap();
    for args in [
        vec!["inspect", &file],
        vec!["inspect", "--json", &file],
        vec!["check", &file],
        vec!["bake", &file, out],
        vec!["pose", &file, "--clip", "no"],
        vec!["pose", &file, "--time", "9", "--obj", "-"],
        vec!["retarget", &file, &file, out],
        vec!["inspect", HOSTILE],
        vec!["check", HOSTILE],
        vec!["bake", HOSTILE, out],
    ] {
        let ran = run(&args);
        harmless(&ran.out);
        harmless(&ran.err);
        assert!(!ran.out.is_empty() || !ran.err.is_empty());
    }
    // The JSON is escaped, and has the same names.
    let json: serde_json::Value = serde_json::from_str(&ok(&["inspect", "--json", &file])).unwrap();
    assert_eq!(json["materials"][0]["name"], HOSTILE);
    // The path is there once.
    let said = fails(1, &["inspect", HOSTILE]);
    assert_eq!(said.matches("red").count(), 1, "{said}");
}

#[test]
#[cfg_attr(
    windows,
    ignore = "under wine, Vulkan is the host's, which sees no variable of a Windows program"
)]
fn a_missing_driver_says_what_to_do() {
    let draw = |variable: &str, value: &str| {
        let mut command = command(&["bench", "builtin", "--instances", "1", "--frames", "1"]);
        let output = command.env(variable, value).output().unwrap();
        let ran = crate::Ran::from(output);
        assert_eq!(ran.status, 4, "{}", ran.err);
        ran.err
    };
    let said = draw("VK_DRIVER_FILES", "/no/such/driver.json");
    let words = "there is no Vulkan driver that works: VK_DRIVER_FILES is set to \
                 \"/no/such/driver.json\": unset it, or set it to the .json file of a driver";
    assert!(said.contains(words), "{said}");
}

#[test]
fn axes_and_units_are_arguments() {
    let folder = folder("words axes");
    let file = write(&folder, "a.ezm", samples::ezm_text());
    let bounds = |args: &[&str]| {
        let mut all = vec!["inspect", "--json", &file];
        all.extend(args);
        let json: serde_json::Value = serde_json::from_str(&ok(&all)).unwrap();
        let point = |name: &str| {
            let list = json["rest_bounds_m"][name].as_array().unwrap();
            [0, 1, 2].map(|axis: usize| list[axis].as_f64().unwrap())
        };
        (point("min"), point("max"))
    };
    let (min, max) = bounds(&[]);
    let (scaled_min, scaled_max) = bounds(&["--scale", "0.5"]);
    for axis in 0..3 {
        assert!((scaled_min[axis] - 0.5 * min[axis]).abs() < 1e-6);
        assert!((scaled_max[axis] - 0.5 * max[axis]).abs() < 1e-6);
    }
    let (_, turned_max) = bounds(&["--up", "z"]);
    assert!((turned_max[2] + min[1]).abs() < 1e-6, "-y becomes z");
    for args in [["--up", "x"], ["--scale", "0"], ["--scale", "nan"]] {
        fails(2, &["inspect", &file, args[0], args[1]]);
    }
    let said = fails(2, &["inspect", "builtin", "--scale", "2"]);
    assert!(said.contains("--up and --scale are for files"), "{said}");
    let saved = folder.join("a.throng");
    let saved = saved.to_str().unwrap();
    ok(&["bake", &file, saved, "--up", "z", "--scale", "2"]);
    let said = fails(1, &["check", saved, "--scale", "2"]);
    assert!(said.is_empty(), "{said}");
    let said = run(&["check", saved, "--scale", "2"]).out;
    assert!(
        said.contains("a saved character cannot be converted"),
        "{said}"
    );
}
