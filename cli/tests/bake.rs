//! Tests of `throng bake`.

use crate::{fails, folder, ok, run, text, write};
use std::path::Path;
use throng::character::Character;
use throng::import::{ImportOptions, RawCharacter};
use throng::mesh::{Image, Material, TextureRef};

#[test]
fn the_saved_character_is_the_imported_one() {
    let folder = folder("bake");
    let made = crate::made::write(&folder);
    let mut files = vec![made];
    files.extend(crate::assets::files());
    for file in files {
        let out = folder.join("out.throng");
        let said = ok(&["bake", &text(&file), &text(&out), "--levels", "off"]);
        assert!(
            said.starts_with(&format!("wrote {}: ", out.display())),
            "{said}"
        );
        let expected = throng_import::file(&file, &ImportOptions::default()).unwrap();
        assert!(
            Character::load_file(&out, &Default::default()).unwrap() == expected.character,
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

/// The order is that of the file on request, and told.
#[test]
fn the_order_is_made_or_kept() {
    let out = folder("bake order").join("out.throng");
    let bake = |args: &[&str]| {
        let said = ok(&[&["bake", "builtin", &text(&out)], args].concat());
        (
            Character::load_file(&out, &Default::default()).unwrap(),
            said,
        )
    };
    let mannequin = |keep_order| {
        let options = ImportOptions {
            keep_order,
            ..ImportOptions::default()
        };
        RawCharacter::mannequin().build(&options).unwrap().character
    };
    let (ordered, said) = bake(&[]);
    assert!(ordered == mannequin(false));
    let line = "\n  1.149 shaded vertices per vertex (1.279 in the file's order), 0 vertices merged, 2 \
                draws of a group of instances\n";
    assert!(said.contains(line), "{said}");
    let (kept, _) = bake(&["--keep-order"]);
    assert!(kept == mannequin(true));
    assert!(kept != ordered);
    let json: serde_json::Value = serde_json::from_str(&bake(&["--json"]).1).unwrap();
    assert_eq!(json["geometry"]["draws"], 2);
    let saved = throng_import::file(&out, &ImportOptions::default()).unwrap();
    assert_eq!(
        json["geometry"]["shaded_vertices"],
        saved.geometry.shaded_vertices
    );
    assert!(json["geometry"]["shaded_per_vertex"].as_f64().unwrap() < 1.15);
}

/// Levels of detail are those of the file, new ones, or none.
#[test]
fn levels_are_kept_made_or_left_out() {
    let out = folder("bake levels").join("out.throng");
    let bake = |args: &[&str]| {
        let said = ok(&[&["bake", "builtin", &text(&out)], args].concat());
        let levels = Character::load_file(&out, &Default::default()).unwrap();
        (levels.levels().map(|level| level.triangles).collect(), said)
    };
    let (kept, said): (Vec<usize>, _) = bake(&[]);
    assert_eq!(kept, [4266, 2158, 1092, 438, 140, 44, 22]);
    let line = "\n  7 coarser levels of triangles: 4,266 (error 8.0 mm, covers 100 %), \
                2,158 (error 13.9 mm, covers 100 %), 1,092 (error 21.4 mm, covers 99 %), ";
    assert!(said.contains(line), "{said}");
    let (none, _) = bake(&["--levels", "off"]);
    assert!(none.is_empty());
    let (made, _) = bake(&["--levels", "make"]);
    assert!(made.len() > 2 && made != kept, "{made:?}");
}

#[test]
fn options_reach_the_importer() {
    let folder = folder("bake options");
    let file = crate::made::write(&folder);
    let out = folder.join("out.throng");
    let bake = |args: &[&str]| {
        ok(&[
            &["bake", &text(&file), &text(&out), "--levels", "off"],
            args,
        ]
        .concat());
        Character::load_file(&out, &Default::default()).unwrap()
    };
    let options = ImportOptions {
        curves: true,
        ..ImportOptions::default()
    };
    let expected = throng_import::file(&file, &options).unwrap().character;
    assert!(bake(&["--keep-curves"]) == expected);
    assert!(bake(&["--no-images"]).images().is_empty());
    let coarse = bake(&["--error", "100"]).clips()[0].report().bytes;
    let fine = bake(&["--error", "0.01"]).clips()[0].report().bytes;
    let plain = bake(&["--packing", "none"]).clips()[0].report().bytes;
    assert!(coarse < fine && fine <= plain, "{coarse} {fine} {plain}");
    let influences = |character: &Character| {
        let primitives = character.primitives().iter();
        primitives.map(|part| part.influences_per_vertex).max()
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
    let character = Character::load_file(&out, &Default::default()).unwrap();
    let names: Vec<&str> = character.clips().iter().map(|clip| clip.name()).collect();
    assert_eq!(names.len(), 12);
    // The largest error, with its vertex, joint, time and clip.
    let worst = ran.out.lines().find(|line| line.contains("largest error"));
    let worst = worst.unwrap();
    for part in [" mm, at vertex ", ", joint ", " s of clip "] {
        assert!(worst.contains(part), "{worst}");
    }
    // The parts of each clip, and its size against 32-bit transforms.
    let parts = |line: &&str| line.contains("(tables ") && line.contains(", at own rate ");
    assert_eq!(ran.out.lines().filter(parts).count(), 12, "{}", ran.out);
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
    let file = text(&crate::made::write(&folder));
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
    assert!(words.contains("it belongs to"), "{words}");
    // Elsewhere it belongs to nothing that is read.
    ok(&["bake", "builtin", &neighbour]);
}

#[test]
fn nothing_is_overwritten_by_mistake() {
    let folder = folder("bake faults");
    let file = crate::made::write(&folder);
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

/// The input, and the files that it refers to, under names that differ from those in the file.
#[test]
fn inputs_under_other_names_are_not_overwritten() {
    let folder = folder("bake names");
    let mut gltf: serde_json::Value = serde_json::from_str(&crate::odd_gltf()).unwrap();
    let uris = ["h%C3%A9ros.png", "a%281%29.png", "./h\u{e9}ros 2.png"];
    gltf["images"] = uris.map(|uri| serde_json::json!({ "uri": uri })).into();
    let buffers = gltf["buffers"].as_array_mut().unwrap();
    for uri in ["b%75f.glb", "buf.obj"] {
        buffers.push(serde_json::json!({ "uri": uri, "byteLength": 5 }));
    }
    // Escaped, as JSON allows.
    let gltf = gltf.to_string().replace('\u{e9}', "\\u00e9");
    let gltf = write(&folder, "odd.gltf", gltf);
    let named = [
        ("--picture", "h\u{e9}ros.png"),
        ("--picture", "a(1).png"),
        ("--picture", "h\u{e9}ros 2.png"),
        ("--glb", "buf.glb"),
        ("--obj", "buf.obj"),
    ];
    for (option, name) in named {
        let file = write(&folder, name, b"bytes");
        let words = fails(3, &["pose", &gltf, option, &file]);
        assert!(words.contains("it belongs to"), "{name}: {words}");
        assert_eq!(std::fs::read(&file).unwrap(), b"bytes");
    }
    // A name that is part of another one is free.
    let file = write(&folder, "ros.obj", b"bytes");
    ok(&["pose", "builtin", "--obj", &file]);
}

#[cfg(unix)]
#[test]
fn hard_links_to_the_input_are_not_overwritten() {
    let folder = folder("bake links");
    let file = crate::made::write(&folder);
    let before = std::fs::read(&file).unwrap();
    for (name, subcommand) in [("linked.glb", "pose"), ("linked.throng", "bake")] {
        let linked = folder.join(name);
        std::fs::hard_link(&file, &linked).unwrap();
        let linked = text(&linked);
        let words = match subcommand {
            "pose" => fails(3, &["pose", &text(&file), "--glb", &linked]),
            _ => fails(3, &["bake", &text(&file), &linked]),
        };
        assert!(words.contains("it is the file that is read"), "{words}");
    }
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

/// Everything that an import reads: the description, the file that it names, and textures of a file
/// whose clips are added. Also through links, and under names that do not exist yet.
#[cfg(unix)]
#[test]
fn files_of_an_asset_are_not_overwritten() {
    use std::os::unix::fs::symlink;
    use std::path::Path;
    let folder = folder("bake asset");
    std::fs::create_dir_all(folder.join("elsewhere")).unwrap();
    let file = text(&crate::made::write(&folder));
    let sidecar = Path::new(&file).with_extension("toml");
    let machine = "state_machine_file = 'machine.throng'";
    std::fs::write(&sidecar, machine).unwrap();
    let state = "state = [{ name = 'go', motion = 'none' }]";
    let machine = format!("[[layer]]\nname = 'a'\nentry = 'go'\n{state}");
    let machine = write(&folder, "machine.throng", machine);
    let words = fails(3, &["bake", &file, &machine]);
    assert!(words.contains("it belongs to"), "{words}");
    let link = folder.join("elsewhere/link.throng");
    for target in [&sidecar, Path::new(&machine)] {
        let _ = std::fs::remove_file(&link);
        symlink(target, &link).unwrap();
        let before = std::fs::read(target).unwrap();
        let words = fails(3, &["bake", &file, &text(&link)]);
        assert!(words.contains("it belongs to"), "{words}");
        assert_eq!(std::fs::read(target).unwrap(), before);
    }
    let hard = folder.join("elsewhere/hard.obj");
    std::fs::hard_link(&sidecar, &hard).unwrap();
    let words = fails(3, &["pose", &file, "--obj", &text(&hard)]);
    assert!(words.contains("it belongs to"), "{words}");
    // A texture that is missing would be found by the next import.
    let gltf = crate::odd_gltf();
    let gltf = gltf.replacen('{', r#"{"images":[{"uri":"later.png"}],"#, 1);
    let gltf = write(&folder, "odd.gltf", gltf);
    let ways = [
        folder.join("later.png"),
        folder.join("elsewhere/../later.png"),
        folder.join("elsewhere/dangling.png"),
    ];
    symlink("../later.png", &ways[2]).unwrap();
    for later in ways {
        let words = fails(3, &["pose", &gltf, "--picture", &text(&later)]);
        assert!(words.contains("it belongs to"), "{words}");
    }
    assert!(!folder.join("later.png").exists());
}

/// A result is complete or absent, and other names of the file keep what they had.
#[cfg(unix)]
#[test]
fn results_take_the_place_of_a_file() {
    let folder = folder("bake replace");
    let (out, other, link) = (
        folder.join("out.obj"),
        folder.join("other.obj"),
        folder.join("link.obj"),
    );
    std::fs::write(&out, b"before").unwrap();
    std::fs::hard_link(&out, &other).unwrap();
    std::os::unix::fs::symlink("out.obj", &link).unwrap();
    ok(&["pose", "builtin", "--obj", &text(&link)]);
    assert_eq!(std::fs::read(&other).unwrap(), b"before");
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(std::fs::read_to_string(&out).unwrap().contains("\nf 1"));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 3);
    // An output that is no file is written to directly.
    assert!(ok(&["pose", "builtin", "--obj", "/dev/stdout"]).contains("\nf 1"));
    ok(&["pose", "builtin", "--obj", "/dev/null"]);
    let words = fails(3, &["pose", "builtin", "--obj", "/dev/full"]);
    assert!(words.contains("/dev/full cannot be written"), "{words}");
}

#[test]
fn the_report_is_json_or_nothing() {
    let folder = folder("bake report");
    let odd = write(&folder, "odd.gltf", crate::odd_gltf());
    let out = text(&folder.join("out.throng"));
    let ran = run(&["bake", "--quiet", &odd, &out]);
    assert_eq!((ran.status, &*ran.out, &*ran.err), (0, "", ""));
    let found = crate::document(&ok(&["bake", "--json", &odd, &out]));
    let size = std::fs::metadata(&out).unwrap().len();
    assert_eq!(
        (&found["bytes"], &found["joints"]),
        (&size.into(), &1.into())
    );
    assert_eq!(found["repairs"][0]["file"], "odd.gltf");
    let found = ok(&[
        "retarget",
        "--json",
        "--match",
        "copy",
        &made(&folder),
        &made(&folder),
        &out,
    ]);
    let found = crate::document(&found);
    assert_eq!(found["matching"], "copy");
    assert!(
        found["added"][0]["duration_s"].as_f64().unwrap() > 0.0,
        "{found}"
    );
    assert_eq!(
        found["clips"].as_array().unwrap().len(),
        2 * found["added"].as_array().unwrap().len()
    );
    let args = [
        "retarget",
        "-q",
        &made(&folder),
        &made(&folder),
        &out,
        "--match",
        "copy",
    ];
    let ran = run(&args);
    assert_eq!((ran.status, &*ran.out, &*ran.err), (0, "", ""));
    let glb = text(&folder.join("out.glb"));
    let ran = run(&["pose", "-q", &made(&folder), "--time", "99", "--glb", &glb]);
    assert_eq!((ran.status, &*ran.out, &*ran.err), (0, "", ""));
    fails(2, &["bake", "--quiet", "--json", &odd, &out]);
}

fn made(folder: &Path) -> String {
    text(&crate::made::write(folder))
}

/// The images of a saved character, compressed once.
#[test]
fn textures_are_compressed() {
    let folder = folder("bake textures");
    let mut raw = RawCharacter::mannequin();
    let texel = |at: u32| [at as u8, (at / 20) as u8 * 9, 90, 255];
    let skin = (0..20 * 18).flat_map(texel).collect();
    raw.images = vec![
        Image::new("skin", 20, 18, skin),
        Image::new(
            "bumps",
            8,
            4,
            [[128, 128, 255, 255], [160, 100, 240, 255]]
                .concat()
                .repeat(16),
        ),
    ];
    raw.materials = vec![Material {
        base_color_texture: Some(TextureRef::new(0)),
        normal_texture: Some(TextureRef::new(1)),
        ..Material::default()
    }];
    raw.primitives
        .iter_mut()
        .for_each(|primitive| primitive.material = Some(0));
    let source = folder.join("source.throng");
    let made = raw.build(&ImportOptions::default()).unwrap();
    made.save_file(&source).unwrap();
    let source = text(&source);
    let [plain, packed] = ["plain.throng", "packed.throng"].map(|name| text(&folder.join(name)));
    let images = |file: &str| {
        let document: serde_json::Value =
            serde_json::from_str(&ok(&["inspect", file, "--json"])).unwrap();
        document["images"].as_array().unwrap().clone()
    };
    let before = ok(&["bake", &source, &plain]);
    assert!(!before.contains("differs by"));
    let document: serde_json::Value = serde_json::from_str(&ok(&[
        "bake",
        &source,
        &packed,
        "--textures",
        "bc7",
        "--json",
    ]))
    .unwrap();
    let all = document["textures"].as_array().unwrap();
    assert_eq!(all.len(), images(&plain).len());
    let formats = ["BC7", "BC5"];
    for ((one, format), (plain, packed)) in all
        .iter()
        .zip(formats)
        .zip(images(&plain).iter().zip(images(&packed)))
    {
        assert_eq!(
            (&one["format"], &packed["format"]),
            (&format.into(), &format.into())
        );
        assert_eq!(
            (&plain["format"], &plain["stored_levels"]),
            (&"RGBA8".into(), &0.into())
        );
        assert!(one["rms"].as_f64().unwrap() < 4.0, "{one}");
        assert_eq!(one["bytes"], packed["bytes"]);
        // 20 x 18 texels are 25 blocks of 16 bytes, and small levels have one block at least.
        let bytes = [plain, &packed].map(|it| it["bytes"].as_u64().unwrap());
        let wanted = match format {
            "BC7" => [1900, (25 + 9 + 2 + 1 + 1) * 16],
            _ => [172, (2 + 1 + 1 + 1) * 16],
        };
        assert_eq!(bytes, wanted);
    }
    astc(&source, &text(&folder.join("astc.throng")));
    // What is compressed stays as it is.
    let again = text(&folder.join("again.throng"));
    ok(&["bake", &packed, &again, "--textures", "bc7"]);
    assert_eq!(
        std::fs::read(&again).unwrap(),
        std::fs::read(&packed).unwrap()
    );
}

/// ASTC takes as many bytes, and three channels of normals. A program without its encoder says so.
fn astc(source: &str, to: &str) {
    let ran = run(&["bake", source, to, "--textures", "astc", "--json"]);
    if cfg!(not(feature = "astc")) {
        assert_eq!(ran.status, 2);
        assert!(
            ran.err.contains("built without the feature astc"),
            "{}",
            ran.err
        );
        assert!(!Path::new(to).exists());
        return;
    }
    assert_eq!(ran.status, 0, "{}", ran.err);
    let document: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let sizes = [(25 + 9 + 2 + 1 + 1) * 16, (2 + 1 + 1 + 1) * 16];
    for (one, bytes) in document["textures"].as_array().unwrap().iter().zip(sizes) {
        assert_eq!(
            (&one["format"], &one["bytes"]),
            (&"ASTC 4x4".into(), &bytes.into())
        );
        assert!(one["rms"].as_f64().unwrap() < 4.0, "{one}");
    }
}

/// Parts of another file are added, with levels of detail for the whole, and what does not fit is
/// told.
#[test]
fn parts_of_other_files_are_worn() {
    let folder = folder("bake parts");
    let mut raw = RawCharacter::mannequin();
    let mut body = raw.primitives[0].clone();
    body.levels.clear();
    for (part, lift) in [("hat", 0.1), ("cape", -0.2)] {
        let mut worn = body.clone();
        (worn.name, worn.part) = (part.into(), part.into());
        worn.positions.iter_mut().for_each(|at| at.z += lift);
        raw.primitives.push(worn);
    }
    raw.primitives.remove(0);
    let [own, clothes, out] =
        ["own.throng", "clothes.throng", "out.throng"].map(|name| folder.join(name));
    let mannequin = throng::builtin::mannequin().unwrap().character;
    mannequin.save_file(&own).unwrap();
    let made = raw.build(&ImportOptions::default()).unwrap();
    made.save_file(&clothes).unwrap();
    let [own, out, clothes] = [&own, &out, &clothes].map(|path| text(path));
    let of = |parts: &str| format!("{clothes}{parts}");
    let ran = run(&["bake", &own, &out, "--parts-of", &of(":hat")]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    assert!(ran.err.contains("1 part added: hat"), "{}", ran.err);
    let load = || Character::load_file(&out, &Default::default()).unwrap();
    let worn = load();
    let names: Vec<&str> = worn.parts().map(|(_, name)| name).collect();
    let wanted: Vec<&str> = mannequin.parts().map(|(_, name)| name).collect();
    assert_eq!(names, [&wanted[..], &["hat"]].concat());
    // The levels of the mannequin alone lack the hat: the whole has new ones.
    assert!(mannequin.levels().len() > 0 && worn.levels().len() > 0);
    let full = worn.triangle_count();
    assert_eq!(full, 2 * mannequin.triangle_count());
    let mut before = full;
    for level in worn.levels() {
        assert!(level.triangles < before);
        before = level.triangles;
    }
    // All parts, and one that the file lacks.
    ok(&["bake", &own, &out, "--parts-of", &clothes]);
    assert_eq!(load().parts().count(), wanted.len() + 2);
    let said = fails(1, &["bake", &own, &out, "--parts-of", &of(":hood")]);
    assert!(said.contains("hood") && said.contains("hat"), "{said}");
}
