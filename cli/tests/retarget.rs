//! Tests of `throng retarget`.

use crate::{fails, folder, ok, run, samples, text, write};
use serde_json::{Value, json};
use throng::character::{AnimationDesc, Character, ClipDesc, EventDesc};
use throng::glam::{Quat, Vec3};
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
    let [onto, made] =
        [text(&copy), out].map(|path| Character::load_file(path, &Default::default()).unwrap());
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
    let made = Character::load_file(&out, &Default::default()).unwrap();
    assert_eq!(made.clips().len(), 8);
    assert!(made.clip("Wave (2)").is_ok());
}

#[test]
fn events_are_kept() {
    let folder = folder("retarget events");
    let (from, out) = (folder.join("from.throng"), folder.join("out.throng"));
    let character = RawCharacter::mannequin().build(&ImportOptions {
        curves: true,
        ..ImportOptions::default()
    });
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
        let made = Character::load_file(&out, &Default::default()).unwrap();
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
    assert_eq!(
        Character::load_file(&out, &Default::default())
            .unwrap()
            .clips()
            .len(),
        77
    );
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

/// A glTF file of hips and a thigh, which rests in this orientation.
fn thigh(height_m: f32, at: [f32; 3], rest: Quat, prefix: &str) -> Value {
    json!({
        "asset": { "version": "2.0" },
        "nodes": [
            { "name": format!("{prefix}Hips"), "translation": [0.0, height_m, 0.0],
                "children": [1] },
            { "name": format!("{prefix}Leg"), "translation": at, "rotation": rest.to_array() },
        ],
        "scenes": [{ "nodes": [0] }],
    })
}

/// However the clips of a VRM Animation come in, they turn joints relative to the rest pose, and do
/// not align limbs.
#[test]
fn vrm_animations_are_relative_to_the_rest_pose() {
    let folder = folder("retarget vrm");
    let bones = json!({ "humanBones": {
        "hips": { "node": 0 }, "leftUpperLeg": { "node": 1 } } });
    let (from_rest, onto_rest) = (Quat::from_rotation_x(1.5), Quat::from_rotation_z(-0.8));
    let by = Quat::from_rotation_y(1.0);
    let numbers = [&(by * from_rest).to_array()[..], &[0.5, 1.2, -0.1]].concat();
    let times = [0.0_f32];
    let bytes: Vec<u8> = times
        .iter()
        .chain(&numbers)
        .flat_map(|n| n.to_le_bytes())
        .collect();
    write(&folder, "dance.bin", &bytes);
    let mut clip = thigh(1.0, [0.1, -0.1, 0.3], from_rest, "a");
    clip["extensions"] = json!({ "VRMC_vrm_animation": {
        "specVersion": "1.0", "humanoid": bones } });
    clip["buffers"] = json!([{ "uri": "dance.bin", "byteLength": bytes.len() }]);
    let view = |start, length| {
        json!({ "buffer": 0, "byteOffset": start,
        "byteLength": length })
    };
    clip["bufferViews"] = json!([view(0, 4), view(4, 16), view(20, 12)]);
    let accessor = |view, kind| {
        json!({ "bufferView": view, "componentType": 5126,
        "type": kind, "count": 1, "min": [0.0], "max": [0.0] })
    };
    clip["accessors"] = json!([
        accessor(0, "SCALAR"),
        accessor(1, "VEC4"),
        accessor(2, "VEC3")
    ]);
    clip["animations"] = json!([{ "name": "Dance",
        "samplers": [{ "input": 0, "output": 1 }, { "input": 0, "output": 2 }],
        "channels": [
            { "sampler": 0, "target": { "node": 1, "path": "rotation" } },
            { "sampler": 1, "target": { "node": 0, "path": "translation" } },
        ] }]);
    let clips = write(&folder, "dance.vrma", clip.to_string());
    let mut model = thigh(2.0, [0.1, -0.5, 0.0], onto_rest, "b");
    model["extensions"] = json!({ "VRMC_vrm": { "specVersion": "1.0",
        "humanoid": bones } });
    let model = write(&folder, "avatar.vrm", model.to_string());
    let path = |name: &str| text(&folder.join(name));
    let (clips_saved, model_saved, out) = (
        path("dance.throng"),
        path("avatar.throng"),
        path("out.throng"),
    );
    ok(&["bake", &clips, &clips_saved, "--keep-curves"]);
    ok(&["bake", &model, &model_saved, "--keep-curves"]);
    let is_right = || {
        let made = Character::load_file(&out, &Default::default()).unwrap();
        assert_eq!((made.clips().len(), made.clips()[0].name()), (1, "Dance"));
        let mut pose = made.skeleton().rest_pose();
        made.curves()[0].sample(0.0, &mut pose).unwrap();
        let (hips, leg) = (pose[0], pose[1]);
        assert!(leg.rotation.abs_diff_eq(by * onto_rest, 1e-6), "{leg:?}");
        assert!(
            hips.translation
                .abs_diff_eq(Vec3::new(1.0, 2.4, -0.2), 1e-6),
            "{hips:?}"
        );
        assert!(hips.rotation.abs_diff_eq(Quat::IDENTITY, 1e-6), "{hips:?}");
        assert_eq!(leg.translation, Vec3::new(0.1, -0.5, 0.0));
    };
    let keep = "--keep-curves";
    for onto in [&model, &model_saved] {
        for matching in ["auto", "humanoid", "copy"] {
            let with = ["--match", matching, keep];
            let said = ok(&[&["retarget", &clips, onto, &out][..], &with].concat());
            assert!(said.contains("matched by humanoid\n"), "{matching}: {said}");
            is_right();
            ok(&[&["bake", onto, &out, "--clips", &clips][..], &with].concat());
            is_right();
        }
        for matching in ["auto", "humanoid"] {
            ok(&[
                "retarget",
                &clips_saved,
                onto,
                &out,
                "--match",
                matching,
                keep,
            ]);
            is_right();
        }
    }
}

/// A mesh beside the armatures, two armatures with the same names, and one clip for each.
#[test]
fn libraries_of_clips_move_characters_in_every_way() {
    let folder = folder("retarget libraries");
    let numbers: Vec<f32> = [
        &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0][..],
        &[0.0, 1.0],
        &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.6, 0.8],
        &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.8, 0.6],
    ]
    .concat();
    let bytes: Vec<u8> = numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    write(&folder, "numbers.bin", &bytes);
    let accessor = |view, kind, count| {
        let mut accessor = json!({ "bufferView": view, "componentType": 5126, "type": kind });
        accessor["count"] = json!(count);
        accessor
    };
    let views = [(0, 36), (36, 8), (44, 32), (76, 32)];
    let views = views
        .map(|(start, length)| json!({ "buffer": 0, "byteOffset": start, "byteLength": length }));
    let file = |nodes: Value, clips: &[(&str, usize, usize)]| {
        let clips = clips.iter().map(|(name, node, output)| {
            let channel = json!({ "sampler": 0, "target": { "node": node, "path": "rotation" } });
            let samplers = json!([{ "input": 1, "output": output }]);
            json!({ "name": name, "samplers": samplers, "channels": [channel] })
        });
        let file = json!({
            "asset": { "version": "2.0" }, "nodes": nodes,
            "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 } }] }],
            "buffers": [{ "uri": "numbers.bin", "byteLength": bytes.len() }],
            "bufferViews": views, "animations": clips.collect::<Vec<_>>(),
            "accessors": [
                accessor(0, "VEC3", 3), accessor(1, "SCALAR", 2), accessor(2, "VEC4", 2),
                accessor(3, "VEC4", 2),
            ],
        });
        file.to_string()
    };
    let base = |child: usize| json!({ "name": "Base", "children": [child] });
    let onto = json!([base(1), { "name": "Tip", "translation": [0, 1, 0], "mesh": 0 }]);
    let onto = write(&folder, "onto.gltf", file(onto, &[]));
    let tip = json!({ "name": "Tip", "translation": [0, 1, 0] });
    let armatures = json!([base(1), tip, base(3), tip, { "name": "Cube", "mesh": 0 }]);
    let clips = [("Walk", 1, 2), ("Wave", 3, 3)];
    let clips = write(&folder, "clips.gltf", file(armatures, &clips));
    let posed = |matching: &str, clip: &str| {
        let more = [
            "--clips", &clips, "--match", matching, "--clip", clip, "--time", "1",
        ];
        let text = ok(&[&["pose", &onto, "--obj", "-"], &more[..]].concat());
        let numbers = text.lines().filter(|line| line.starts_with("v "));
        let numbers = numbers.flat_map(|line| line.split(' ').skip(1));
        numbers
            .map(|number| number.parse().unwrap())
            .collect::<Vec<f32>>()
    };
    let near = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-4);
    // The angles have the sines 0.96 and 0.96, and the cosines 0.28 and -0.28.
    for (clip, cosine) in [("Walk", 0.28), ("Wave", -0.28)] {
        let expected = [0.0, 1.0, 0.0, cosine, 1.96, 0.0, -0.96, 1.0 + cosine, 0.0];
        for matching in ["auto", "copy", "names"] {
            let got = posed(matching, clip);
            assert!(
                near(&got, &expected) && got.len() == 9,
                "{clip} by {matching}: {got:?}"
            );
        }
    }
}
