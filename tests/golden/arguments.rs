//! Tests of the examples' command lines: what they refuse, and with which words.

use super::crowd::args::Args as CrowdArgs;
use crate::reference::words::Says;
use clap::Parser;
use throng::Crowd;

fn refusal<A: Parser>(args: &[&str]) -> String {
    let refused = A::try_parse_from(["example"].iter().chain(args));
    refused.err().map(|e| e.to_string()).unwrap_or_default()
}

#[test]
fn pictures_are_png_files() {
    for (path, words) in [
        ("x.jpg", "expected the extension .png, not .jpg"),
        ("x.png.gif", "not .gif"),
        ("x", "expected the extension .png"),
        ("folder.png/x", "expected the extension .png"),
        ("", "expected the extension .png"),
    ] {
        for option in ["--out", "--apng"] {
            let refused = refusal::<CrowdArgs>(&[option, path]);
            assert!(refused.contains(words), "{option} {path}: {refused}");
            refused.says(format!("…{option}…"));
        }
    }
    for path in ["x.png", "a/b.PNG"] {
        assert_eq!(refusal::<CrowdArgs>(&["--out", path, "--apng", path]), "");
    }
}

#[test]
fn characters_and_sides_are_chosen() {
    for (more, words) in [
        (&["--characters", "0"][..], "0 is not in 1..=8"),
        (&["--characters", "9"], "9 is not in 1..=8"),
        (
            &["--characters", "2", "--model", "a.glb"],
            "cannot be used with",
        ),
        (
            &["--stages", "both"],
            "[possible values: auto, cpu, gpu-cull, gpu]",
        ),
    ] {
        refusal::<CrowdArgs>(more).says(format!("…{words}…"));
    }
    for characters in ["1", "8"] {
        let more = ["--characters", characters, "--stages", "gpu"];
        assert_eq!(refusal::<CrowdArgs>(&more), "");
    }
    assert_eq!(
        refusal::<CrowdArgs>(&["--model", "a.glb", "--model", "b.glb"]),
        ""
    );
}

/// `Crowd::new` accepts no more, and a larger crowd is refused before anything is loaded.
#[test]
fn a_crowd_has_as_many_instances_as_the_library_allows() {
    let most = Crowd::MAX_INSTANCES;
    assert_eq!(
        refusal::<CrowdArgs>(&["--instances", &most.to_string()]),
        ""
    );
    for more in [(most + 1).to_string(), "99999999999".into(), "x".into()] {
        let refused = refusal::<CrowdArgs>(&["--instances", &more]);
        assert!(refused.contains(&most.to_string()), "{refused}");
        refused.says("…--instances…");
    }
}
