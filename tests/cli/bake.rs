//! Tests of `throng bake`.

use crate::{fails, folder, ok, run, text, write};
use throng::character::{Character, ClipImport};
use throng::import::{ImportOptions, gltf_file};

#[test]
fn the_saved_character_is_the_imported_one() {
    let folder = folder("bake");
    let made = crate::reference::made::write(&folder);
    let mut files = vec![made];
    files.extend(crate::reference::assets::files());
    for file in files {
        let out = folder.join("out.throng");
        let said = ok(&["bake", &text(&file), &text(&out)]);
        assert!(
            said.starts_with(&format!("wrote {}: ", out.display())),
            "{said}"
        );
        let expected = gltf_file(&file, &ImportOptions::default()).unwrap();
        assert!(
            Character::load_file(&out).unwrap() == expected.character,
            "{file:?}"
        );
        // The program reads what it wrote.
        assert_eq!(run(&["check", &text(&out)]).status, 0);
    }
    // Nothing else was left in the folder.
    let names = std::fs::read_dir(&folder).unwrap();
    let temporary = names.filter(|name| {
        let name = name.as_ref().unwrap().file_name();
        name.to_string_lossy().ends_with(".tmp")
    });
    assert_eq!(temporary.count(), 0);
}

#[test]
fn options_reach_the_importer() {
    let folder = folder("bake options");
    let file = crate::reference::made::write(&folder);
    let out = folder.join("out.throng");
    let bake = |args: &[&str]| {
        ok(&[&["bake", &text(&file), &text(&out)], args].concat());
        Character::load_file(&out).unwrap()
    };
    let options = ImportOptions {
        clips: ClipImport::PackedWithCurves,
        ..ImportOptions::default()
    };
    let expected = gltf_file(&file, &options).unwrap().character;
    assert!(bake(&["--keep-curves"]) == expected);
    assert!(bake(&["--no-images"]).images().is_empty());
    let coarse = bake(&["--error", "100"]).clips()[0].report().bytes;
    let fine = bake(&["--error", "0.01"]).clips()[0].report().bytes;
    let plain = bake(&["--packing", "none"]).clips()[0].report().bytes;
    assert!(coarse < fine && fine <= plain, "{coarse} {fine} {plain}");
    let influences = |character: &Character| {
        let primitives = character.primitives().iter();
        primitives.map(|part| part.influences.per_vertex).max()
    };
    assert_eq!(influences(&bake(&["--max-influences", "1"])), Some(1));
}

#[test]
fn clips_of_other_files_are_added() {
    let folder = folder("bake clips");
    let out = text(&folder.join("out.throng"));
    let ran = run(&[
        "bake", "builtin", &out, "--clips", "builtin", "--clips", "builtin",
    ]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let character = Character::load_file(&out).unwrap();
    let names: Vec<&str> = character.clips().iter().map(|clip| clip.name()).collect();
    assert_eq!(names.len(), 12);
    assert_eq!(names[4..6], ["Idle (2)", "Walk (2)"]);
    assert_eq!(names[8..9], ["Idle (3)"]);
    assert!(
        ran.err.contains("note: builtin: 4 clips added\n"),
        "{}",
        ran.err
    );
}

#[test]
fn the_standard_output_is_refused() {
    let words = fails(2, &["bake", "builtin", "-"]);
    assert!(words.contains("OUT must be a file"), "{words}");
    let words = fails(2, &["retarget", "builtin", "builtin", "-"]);
    assert!(words.contains("OUT must be a file"), "{words}");
}

/// A file that the import may read beside the source.
#[test]
fn neighbours_are_not_overwritten() {
    let folder = folder("bake neighbours");
    let file = text(&crate::reference::made::write(&folder));
    let neighbour = write(&folder, "skin.bin", b"bytes");
    for args in [
        &["bake", &file, &neighbour][..],
        &["retarget", "builtin", &file, &neighbour],
        &["pose", &file, "--obj", &neighbour],
    ] {
        let words = fails(3, args);
        assert!(words.contains("may belong to it"), "{args:?}: {words}");
    }
    assert_eq!(std::fs::read(&neighbour).unwrap(), b"bytes");
    // A texture has the extension of a picture.
    let gltf = crate::odd_gltf();
    let gltf = gltf.replacen('{', r#"{"images":[{"uri":"my%20skin.png"}],"#, 1);
    let gltf = write(&folder, "odd.gltf", gltf);
    let texture = write(&folder, "my skin.png", b"bytes");
    let words = fails(3, &["pose", &gltf, "--picture", &texture]);
    assert!(words.contains("refers to it"), "{words}");
    // Elsewhere it belongs to nothing that is read.
    ok(&["bake", "builtin", &neighbour]);
}

#[test]
fn nothing_is_overwritten_by_mistake() {
    let folder = folder("bake faults");
    let file = crate::reference::made::write(&folder);
    let before = std::fs::read(&file).unwrap();
    let file = text(&file);
    let words = fails(3, &["bake", &file, &file]);
    assert!(words.contains("it is the file that is read"), "{words}");
    let out = text(&folder.join("out.throng"));
    std::fs::copy(&file, &out).unwrap();
    let words = fails(3, &["bake", "builtin", &out, "--clips", &out]);
    assert!(words.contains("it is the file that is read"), "{words}");
    assert_eq!(std::fs::read(&file).unwrap(), before);
    let words = fails(3, &["bake", &file, &text(&folder)]);
    assert!(words.contains("it is a folder"), "{words}");
    let words = fails(3, &["bake", &file, &text(&folder.join("none/out.throng"))]);
    assert!(words.contains("there is no folder"), "{words}");
    // A faulty file leaves what was there.
    std::fs::write(&out, b"something").unwrap();
    let cut = write(&folder, "cut.glb", b"glTF");
    assert!(fails(1, &["bake", &cut, &out]).starts_with(&format!("error: {cut}: ")));
    assert_eq!(std::fs::read(&out).unwrap(), b"something");
    for error in ["0", "-1", "nan", "inf", "x"] {
        fails(2, &["bake", &file, &out, &format!("--error={error}")]);
    }
}
