//! Tests of `throng retarget`.

use crate::{fails, folder, ok, run, samples, text, write};
use throng::character::{AnimationDesc, Character, ClipDesc, EventDesc};
use throng::import::{ImportOptions, RawCharacter};

#[test]
fn clips_of_the_same_skeleton_keep_their_keys() {
    let folder = folder("retarget copy");
    let file = text(&crate::made::write(&folder));
    let out = text(&folder.join("out.throng"));
    let copy = folder.join("onto.throng");
    ok(&["bake", &file, &text(&copy)]);
    let said = ok(&["retarget", &file, &text(&copy), &out, "--match", "copy"]);
    assert!(said.contains("matched by copy\n"), "{said}");
    let [onto, made] = [text(&copy), out].map(|path| Character::load_file(path).unwrap());
    assert_eq!(made.clips().len(), 2 * onto.clips().len());
    for (clip, again) in onto.clips().iter().zip(&made.clips()[onto.clips().len()..]) {
        assert_eq!(again.name(), format!("{} (2)", clip.name()));
        assert_eq!(again.duration_s(), clip.duration_s());
    }
}

#[test]
fn humanoids_are_matched() {
    let folder = folder("retarget humanoid");
    let out = text(&folder.join("out.throng"));
    let curves = text(&folder.join("curves.throng"));
    ok(&["bake", "builtin", &curves, "--keep-curves"]);
    let said = ok(&["retarget", &curves, "builtin", &out, "--match", "humanoid"]);
    assert!(said.starts_with(&format!(
        "4 clips of {curves} onto builtin, matched by humanoid\n"
    )));
    for words in [
        "of 57 joints follow",
        "\nClips (4)\n",
        "\"Walk (2)\"",
        "mm between keys",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let made = Character::load_file(&out).unwrap();
    assert_eq!(made.clips().len(), 8);
    assert!(made.clip("Wave (2)").is_ok());
}

#[test]
fn events_are_kept() {
    let folder = folder("retarget events");
    let (from, out) = (folder.join("from.throng"), folder.join("out.throng"));
    let character = RawCharacter::mannequin().build(&ImportOptions::with_curves());
    let event = EventDesc {
        name: "wink".into(),
        time_s: 0.25,
    };
    let clip = ClipDesc {
        name: "Wave".into(),
        events: vec![event],
        ..ClipDesc::default()
    };
    let desc = AnimationDesc {
        clips: vec![clip],
        ..AnimationDesc::default()
    };
    let character = character.unwrap().character.with_animation(&desc).unwrap();
    character.save_file(&from).unwrap();
    let (from, out) = (text(&from), text(&out));
    for matching in ["names", "humanoid"] {
        ok(&["retarget", &from, "builtin", &out, "--match", matching]);
        let made = Character::load_file(&out).unwrap();
        let clip = made.clip("Wave (2)").unwrap();
        let events: Vec<_> = made.events(clip).collect();
        assert!(events.contains(&("wink", 0.25)), "{matching}: {events:?}");
    }
}

#[test]
fn what_cannot_be_retargeted_is_an_error() {
    let folder = folder("retarget faults");
    let file = text(&crate::made::write(&folder));
    let out = text(&folder.join("out.throng"));
    let packed = text(&folder.join("packed.throng"));
    ok(&["bake", "builtin", &packed]);
    let words = fails(1, &["retarget", &packed, "builtin", &out]);
    assert!(
        words.contains("packed.throng: has packed clips only"),
        "{words}"
    );
    let words = fails(1, &["retarget", &file, "builtin", &out]);
    assert!(words.contains("in common"), "{words}");
    let words = fails(
        2,
        &["retarget", "builtin", "builtin", &out, "--match", "copy"],
    );
    assert!(words.contains("--match copy"), "{words}");
    assert!(!std::path::Path::new(&out).exists());
}

#[test]
#[ignore = "needs Knight.glb and CesiumMan.glb in THRONG_ASSETS, and --include-ignored"]
fn models_are_retargeted_onto_each_other() {
    let files = crate::assets::files();
    let of = |name: &str| files.iter().find(|file| file.ends_with(name)).expect(name);
    let (knight, man) = (of("Knight.glb"), of("CesiumMan.glb"));
    let out = text(&folder("retarget models").join("out.throng"));
    let said = ok(&["retarget", &text(man), &text(knight), &out]);
    assert!(said.contains("matched by humanoid"), "{said}");
    assert_eq!(Character::load_file(&out).unwrap().clips().len(), 77);
}

/// The keys of such files are relative to a parent that the files do not know.
#[test]
fn clips_without_a_skeleton_are_copied() {
    let folder = folder("retarget flat");
    write(&folder, "player.wglvert", samples::wgl_triangle());
    let player = write(&folder, "player.wglmodel", samples::WGL_MODEL);
    let run_clip = write(&folder, "run.wglanim", samples::WGL_CLIP);
    let girl = write(&folder, "girl.ezm", samples::ezm_text());
    let walk = samples::WALK.replace("\"arm\"", "\"Arm\"");
    let walk = format!("<MeshSystem><Animations count=\"1\">{walk}</Animations></MeshSystem>");
    let walk = write(&folder, "walk.ezm", walk);
    let [auto, copy] = ["auto.throng", "copy.throng"].map(|name| text(&folder.join(name)));
    for (clips, onto, stranger) in [(&run_clip, &player, "tail"), (&walk, &girl, "Arm")] {
        let said = ok(&["retarget", clips, onto, &auto]);
        assert!(said.contains("matched by copy\n"), "{said}");
        let line = format!("  no joint follows 1 joint: {stranger}\n");
        assert!(said.contains(&line), "{said}");
        ok(&["retarget", clips, onto, &copy, "--match", "copy"]);
        let [auto_bytes, copy_bytes] = [&auto, &copy].map(|path| std::fs::read(path).unwrap());
        assert!(auto_bytes == copy_bytes, "{clips}");
        let baked = run(&["bake", onto, &auto, "--clips", clips]);
        assert_eq!(baked.status, 0, "{}", baked.err);
        let line = format!("note: no joint follows 1 joint: {stranger}\n");
        assert!(baked.err.contains(&line), "{}", baked.err);
        assert!(std::fs::read(&auto).unwrap() == copy_bytes, "{clips}");
        for matching in ["names", "humanoid"] {
            let words = fails(2, &["retarget", clips, onto, &auto, "--match", matching]);
            assert!(
                words.contains(&format!("--match {matching} needs")),
                "{words}"
            );
            assert!(words.contains("--match copy"), "{words}");
        }
    }
    // Names must be exact.
    let upper =
        samples::WGL_CLIP.replace("[\"root\", \"knee\", \"tail\"]", r#"["Root", "KNEE", "x"]"#);
    let upper = write(&folder, "upper.wglanim", upper);
    let words = fails(1, &["retarget", &upper, &player, &auto]);
    let told = "no track has exactly the name of a joint: the tracks are for Root, KNEE, x; the \
                joints are root, hip, knee";
    assert!(words.contains(told), "{words}");
    let faulty = write(&folder, "faulty.ezm", "<MeshSystem><Skeleton>");
    fails(1, &["retarget", &faulty, &girl, &auto]);
}

#[test]
fn repairs_of_the_clips_are_told() {
    let folder = folder("retarget repairs");
    let girl = write(&folder, "girl.ezm", samples::ezm_text());
    let walk = samples::ezm_text().replace("duration=\"1.5\"", "duration=\"9\"");
    let walk = write(&folder, "walk.ezm", walk);
    let out = text(&folder.join("out.throng"));
    let repair = "walk.ezm: animation 0: stated duration ignored";
    for matching in ["copy", "names"] {
        let said = ok(&["retarget", &walk, &girl, &out, "--match", matching]);
        assert!(
            said.contains(&format!("\n  {repair}")),
            "{matching}: {said}"
        );
        let ran = run(&["bake", &girl, &out, "--clips", &walk, "--match", matching]);
        assert!(
            ran.err.contains(&format!("note: {repair}")),
            "{matching}: {}",
            ran.err
        );
    }
}
