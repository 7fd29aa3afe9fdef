//! Tests of `throng export`.

use crate::{document, fails, folder, ok, run, text, write};
use std::path::Path;
use throng::character::Character;
use throng::import::{ImportOptions, Imported, RepairKind};

fn original(path: &str) -> Imported {
    throng_import::file(path, &with_curves()).unwrap()
}

/// An export, which needs no repair.
fn read(path: &Path) -> Imported {
    let read = throng_import::file(path, &with_curves()).unwrap();
    assert!(
        read.repairs.iter().all(|it| it.kind == RepairKind::NoSkin),
        "{:?}",
        read.repair_summary()
    );
    read
}

#[test]
fn a_saved_character_becomes_a_gltf_file() {
    let folder = folder("export");
    let saved = text(&folder.join("man.throng"));
    ok(&["bake", "builtin", &saved]);
    let out = folder.join("man.glb");
    let ran = run(&["export", &saved, &text(&out)]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let size = std::fs::metadata(&out).unwrap().len();
    assert!(
        ran.out.starts_with(&format!("wrote {}: ", text(&out))),
        "{}",
        ran.out
    );
    assert!(
        ran.out.contains("57 joints, 1 primitive, 4,117 vertices"),
        "{}",
        ran.out
    );
    assert!(
        ran.err
            .contains("note: tint masks of materials left out (1)\n"),
        "{}",
        ran.err
    );
    let was = Character::load_file(&saved, &Default::default()).unwrap();
    let is = read(&out);
    assert_eq!(was.skeleton().joints(), is.skeleton().joints());
    let names = |of: &Character| -> Vec<String> {
        of.clips()
            .iter()
            .map(|clip| clip.name().to_owned())
            .collect()
    };
    assert_eq!(names(&was), names(&is));
    // The same bytes on the standard output, without a report.
    let bytes = crate::command(&["export", &saved, "-"])
        .output()
        .unwrap()
        .stdout;
    assert_eq!(bytes.len() as u64, size);
    assert!(bytes == std::fs::read(&out).unwrap());
    let ran = run(&["export", "--quiet", &saved, &text(&out)]);
    assert_eq!((ran.status, &*ran.out, &*ran.err), (0, "", ""));
    let found = document(&ok(&["export", "--json", &saved, &text(&out)]));
    assert_eq!(
        (&found["bytes"], &found["joints"]),
        (&size.into(), &57.into())
    );
    assert_eq!(found["omissions"][0]["count"], 1);
    assert_eq!(found["clips"][0]["name"], was.clips()[0].name());
    assert!(found["sidecar"].is_null());
    fails(2, &["export", "--json", &saved, "-"]);
    fails(2, &["export", "--sidecar", &saved, "-"]);
    fails(1, &["export", "missing.glb", &text(&out)]);
    fails(3, &["export", &saved, &text(&folder.join("none/man.glb"))]);
}

#[test]
fn a_sidecar_has_the_rest() {
    let folder = folder("export sidecar");
    let file = text(&crate::made::write(&folder));
    let name = Path::new(&file).file_stem().unwrap().to_str().unwrap();
    let joint = original(&file).skeleton().joints()[0].name.clone();
    let toml = format!("[[socket]]\nname = 'tip'\njoint = {joint:?}\n");
    write(&folder, &format!("{name}.toml"), toml);
    let inner = folder.join("out");
    std::fs::create_dir(&inner).unwrap();
    let out = inner.join("made.glb");
    let ran = run(&["export", &file, &text(&out)]);
    assert!(ran.err.contains("--sidecar writes them"), "{}", ran.err);
    assert!(read(&out).socket("tip").is_err());
    let said = ok(&["export", &file, &text(&out), "--sidecar"]);
    assert!(
        said.ends_with(&format!("wrote {}\n", text(&inner.join("made.toml")))),
        "{said}"
    );
    let is = read(&out);
    assert_eq!(is.sockets(), original(&file).sockets());
    // The description of the input is not replaced.
    let beside = text(&folder.join(format!("{name}.glb")));
    let words = fails(3, &["export", &file, &beside, "--sidecar"]);
    assert!(words.contains("it exists beside"), "{words}");
    assert!(!Path::new(&beside).exists());
}

#[test]
fn clips_of_other_files_are_written_too() {
    let folder = folder("export clips");
    let file = text(&crate::made::write(&folder));
    let out = folder.join("two.glb");
    ok(&[
        "export",
        &file,
        &text(&out),
        "--clips",
        &file,
        "--match",
        "copy",
    ]);
    let (was, is) = (original(&file), read(&out));
    assert_eq!(is.clips().len(), 2 * was.clips().len());
    for (index, clip) in was.curves().iter().enumerate() {
        let again = &is.curves()[was.curves().len() + index];
        assert_eq!(again.duration_s(), clip.duration_s());
        assert_eq!(again.name(), format!("{} (2)", clip.name()));
    }
}

#[test]
fn every_model_is_exported() {
    let folder = folder("export models");
    for file in crate::assets::files() {
        let out = folder.join("out.glb");
        ok(&["export", &text(&file), &text(&out)]);
        let was = throng_import::file(&file, &with_curves()).unwrap();
        let is = read(&out);
        assert_eq!(
            was.skeleton().joints(),
            is.skeleton().joints(),
            "{}",
            file.display()
        );
        // Primitives may change their order, and so the indices of the worst vertices.
        let packed = |model: &Imported| -> Vec<_> {
            let weights = model.morph_weights().len();
            let clips = model.clips().iter();
            clips
                .map(|clip| clip.to_curves(model.skeleton(), weights).unwrap())
                .collect()
        };
        assert!(packed(&was) == packed(&is), "{}", file.display());
    }
}

fn with_curves() -> ImportOptions {
    ImportOptions {
        curves: true,
        ..ImportOptions::default()
    }
}
