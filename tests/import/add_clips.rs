//! Clips of other files: matched joints, reports, and unchanged parts.

use crate::builder::{Builder, F32, arm};
use crate::reference::random;
use crate::reference::raws;
use crate::reference::raws::{animation, linear};
use crate::reference::rng::Rng;
use crate::reference::words::Fails;
use serde_json::{Value, json};
use throng::Error;
use throng::character::Character;
use throng::clip::{CurveClip, Track, TrackValues};
use throng::error::AssetFault;
use throng::glam::Vec3;
use throng::import::{ImportOptions, Imported, RawCharacter, RepairKind};
use throng::skeleton::Transform;

fn options(name: &str) -> ImportOptions {
    ImportOptions {
        name: name.into(),
        ..ImportOptions::curves_only()
    }
}

/// The objects and counts of all repairs of this kind.
fn repaired(imported: &Imported, kind: RepairKind) -> Vec<(&str, u64)> {
    let repairs = imported.repairs.iter().filter(|repair| repair.kind == kind);
    repairs
        .map(|repair| (&*repair.object.part, repair.count))
        .collect()
}

/// The names and differences of joints that rest differently.
fn differences(imported: &Imported) -> Vec<(&str, RepairKind)> {
    let repairs = imported.repairs.iter();
    let differs = repairs.filter(|repair| matches!(repair.kind, RepairKind::RestDiffers { .. }));
    differs
        .map(|repair| (&*repair.object.part, repair.kind.clone()))
        .collect()
}

fn clip_names(character: &Character) -> Vec<&str> {
    character.curves().iter().map(CurveClip::name).collect()
}

fn load(file: &Builder) -> Character {
    throng_import::bytes(&file.glb(), &options("arm"))
        .unwrap()
        .character
}

/// The same file without anything that is drawn: nodes and animations alone, as tools export clips
/// "without skin".
fn stripped(file: &Builder) -> Builder {
    let mut bare = file.clone();
    let json = bare.json.as_object_mut().unwrap();
    for list in ["meshes", "skins", "materials", "textures", "images"] {
        json.remove(list);
    }
    for node in json["nodes"].as_array_mut().unwrap() {
        node.as_object_mut().unwrap().remove("mesh");
        node.as_object_mut().unwrap().remove("skin");
    }
    bare
}

fn same_tracks(a: &CurveClip, b: &CurveClip) {
    assert_eq!(a.tracks(), b.tracks());
    assert_eq!(a.weight_tracks(), b.weight_tracks());
    assert_eq!((a.start_s(), a.duration_s()), (b.start_s(), b.duration_s()));
}

#[test]
fn a_file_without_mesh_and_skin_gives_its_clips() {
    let character = load(&arm());
    for file in [arm(), stripped(&arm())] {
        for bytes in [file.glb(), file.gltf()] {
            let added =
                throng_import::add_clips_bytes(&character, &bytes, &options("other")).unwrap();
            assert_eq!(clip_names(&added), ["Bend", "Bend (2)"]);
            same_tracks(&added.character.curves()[1], &character.curves()[0]);
            assert_eq!(added.repairs.len(), 1);
            assert_eq!(repaired(&added, RepairKind::RenamedClip), [("Bend", 1)]);
            assert_eq!(added.character.clip("Bend").unwrap().index(), 0);
            assert_eq!(added.character.clip("Bend (2)").unwrap().index(), 1);
            // Nothing else changed.
            let (before, after) = (&character, &added.character);
            assert_eq!(before.curves(), &after.curves()[..1]);
            assert_eq!(before.skeleton(), after.skeleton());
            assert_eq!(before.palette(), after.palette());
            assert_eq!(before.primitives(), after.primitives());
            assert_eq!(before.rest_bounds(), after.rest_bounds());
            // A skeleton alone takes the same clips.
            let bare = RawCharacter::from_skeleton(before.skeleton());
            let bare = bare.build(&options("bare")).unwrap();
            let on_skeleton =
                throng_import::add_clips_bytes(&bare, &bytes, &options("other")).unwrap();
            assert_eq!(on_skeleton.curves(), before.curves());
            assert_eq!(on_skeleton.repairs, []);
        }
    }
}

#[test]
fn names_of_clips_stay_apart() {
    let character = load(&arm());
    let mut file = stripped(&arm());
    let bend = file.json["animations"][0].clone();
    let named = |name: Value| {
        let mut one = bend.clone();
        one["name"] = name;
        one
    };
    file.json["animations"] = json!([
        named(json!("Bend")),
        named(json!("Bend (2)")),
        named(json!("Bend")),
        named(json!("New")),
        named(Value::Null),
        named(Value::Null),
    ]);
    let added =
        throng_import::add_clips_bytes(&character, &file.glb(), &options("dance.glb")).unwrap();
    let names = clip_names(&added);
    let expected = [
        "Bend (2)",
        "Bend (2) (2)",
        "Bend (3)",
        "New",
        "dance.glb",
        "dance.glb (2)",
    ];
    assert_eq!(names[1..], expected);
    for (at, name) in expected.iter().enumerate() {
        assert_eq!(added.character.clip(name).unwrap().index(), at + 1);
    }
    // A file without a name leaves them without one.
    let added = throng_import::add_clips_bytes(&character, &file.glb(), &options("")).unwrap();
    assert_eq!(clip_names(&added)[6], "");
}

#[test]
fn what_does_not_match_is_reported() {
    let character = load(&arm());
    let mut file = stripped(&arm());
    // A second joint with two tracks that the character has not, and one animation of it alone.
    let extra = file.add("nodes", json!({ "name": "Tail" }));
    file.json["nodes"][3]["children"] = json!([extra]);
    let times = file.accessor("SCALAR", F32, &[0.0_f32, 1.0]);
    let moves = file.accessor("VEC3", F32, &[0.0_f32, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let target = |path: &str| json!({ "sampler": 0, "target": { "node": extra, "path": path } });
    let sampler = json!([{ "input": times, "output": moves }]);
    file.add(
        "animations",
        json!({ "name": "Wag", "samplers": sampler, "channels": [target("translation"), target("scale")] }),
    );
    // The elbow lies higher at rest, and hangs from the same joint.
    file.json["nodes"][3]["translation"] = json!([0.0, 1.25, 0.0]);
    let added = throng_import::add_clips_bytes(&character, &file.glb(), &options("other")).unwrap();
    assert_eq!(repaired(&added, RepairKind::UnmatchedJoint), [("Tail", 2)]);
    assert_eq!(repaired(&added, RepairKind::EmptyClip), [("Wag", 1)]);
    assert_eq!(clip_names(&added), ["Bend", "Bend (2)"]);
    let higher = RepairKind::RestDiffers {
        joint: character.skeleton().joint("Lower").unwrap(),
        translation_m: 0.25,
        rotation_rad: 0.0,
        scale: 0.0,
        other_parent: false,
    };
    assert_eq!(differences(&added), [("Lower", higher)]);

    // The same below another joint, which is not there in the character.
    let mut file = stripped(&arm());
    let between = file.add("nodes", json!({ "name": "Between", "children": [3] }));
    file.json["nodes"][2]["children"] = json!([between]);
    let added = throng_import::add_clips_bytes(&character, &file.glb(), &options("other")).unwrap();
    let elsewhere = RepairKind::RestDiffers {
        joint: character.skeleton().joint("Lower").unwrap(),
        translation_m: 0.0,
        rotation_rad: 0.0,
        scale: 0.0,
        other_parent: true,
    };
    assert_eq!(differences(&added), [("Lower", elsewhere)]);
}

#[test]
fn nothing_in_common_is_an_error_that_names_both() {
    let character = load(&arm());
    let mut file = stripped(&arm());
    file.json["nodes"][3]["name"] = json!("mixamorig:Elbow");
    let error =
        throng_import::add_clips_bytes(&character, &file.glb(), &options("other")).unwrap_err();
    let Error::NoCommonJoints { from, to, .. } = &error else {
        panic!("{error}");
    };
    let words = error.to_string();
    let start = "other: the skeletons have no joint name in common: the file has ";
    assert!(
        words.starts_with(start) && words.contains("; the character has "),
        "{words}"
    );
    assert!(
        from.contains("mixamorig:Elbow") && to.contains("Lower"),
        "{error}"
    );
}

#[test]
fn broken_files_give_the_importers_errors() {
    let character = load(&arm());
    let add =
        |bytes: &[u8]| throng_import::add_clips_bytes(&character, bytes, &options("broken.glb"));
    let mut still = arm();
    still.json.as_object_mut().unwrap().remove("animations");
    match add(&still.glb()).unwrap_err() {
        Error::Asset { file, why, .. } => {
            assert_eq!(&*file, "broken.glb");
            assert_eq!(why, AssetFault::Missing("animations"));
        }
        other => panic!("{other}"),
    }
    let whole = arm().glb();
    let options = options("broken.glb");
    for end in (0..whole.len()).step_by(7) {
        let ours = add(&whole[..end]).unwrap_err();
        let importers = throng_import::bytes(&whole[..end], &options).unwrap_err();
        assert_eq!(ours, importers, "{end} bytes");
    }
    for change in [
        |json: &mut Value| json["animations"][0]["channels"][0]["target"]["node"] = json!(99),
        |json: &mut Value| json["animations"][0]["channels"][0]["sampler"] = json!(7),
        |json: &mut Value| json["animations"][0]["samplers"][0]["output"] = json!(0),
        |json: &mut Value| json["nodes"][3]["children"] = json!([2]),
        |json: &mut Value| json["accessors"][4]["count"] = json!(1_000_000),
        |json: &mut Value| json["skins"][0]["joints"] = json!([2, 99]),
    ] {
        let mut file = arm();
        change(&mut file.json);
        let importers = throng_import::bytes(&file.glb(), &options).unwrap_err();
        assert_eq!(add(&file.glb()).unwrap_err(), importers);
    }
    let missing = throng_import::add_clips(&character, "/nowhere/none.glb", &options);
    assert!(matches!(missing, Err(Error::Io { .. })));
}

/// Nodes by name and parent, all of them joints.
fn nodes(list: &[(&str, Option<usize>)]) -> RawCharacter {
    let node =
        |(name, parent): &(&str, Option<usize>)| raws::node(*name, *parent, Transform::IDENTITY);
    RawCharacter {
        nodes: list.iter().map(node).collect(),
        skins: vec![raws::skin(0..list.len(), Vec::new())],
        ..RawCharacter::default()
    }
}

fn moving(mut raw: RawCharacter, moved: &[usize]) -> RawCharacter {
    use throng::import::RawKeys;
    let channel = |node: &usize| {
        linear(
            *node,
            [0.0],
            RawKeys::Translation(vec![Vec3::splat(*node as f32)]),
        )
    };
    raw.animations = vec![animation("moves", moved.iter().map(channel).collect())];
    raw
}

/// Which joint each node's track ended on: a node's track holds its number.
fn landed(clip: &CurveClip) -> Vec<(usize, u16)> {
    let of = |track: &Track| match &track.values {
        TrackValues::Translation(keys) => (keys.values[0].x as usize, track.joint.0),
        _ => unreachable!("translations only"),
    };
    let mut all: Vec<_> = clip.tracks().iter().map(of).collect();
    all.sort_unstable();
    all
}

#[test]
fn names_that_several_joints_bear_go_by_their_place() {
    // Two hands of three fingers with the same names. The file has the hands in another order, and
    // one hand has an extra finger.
    let ours = nodes(&[
        ("root", None),
        ("left", Some(0)),
        ("right", Some(0)),
        ("a", Some(1)),
        ("b", Some(1)),
        ("a", Some(2)),
        ("b", Some(2)),
        ("b", Some(2)),
    ]);
    let character = ours.build(&options("ours")).unwrap().character;
    let theirs = nodes(&[
        ("top", None),
        ("root", Some(0)),
        ("right", Some(1)),
        ("left", Some(1)),
        ("a", Some(2)),
        ("b", Some(2)),
        ("a", Some(3)),
        ("b", Some(3)),
        ("a", Some(7)),
    ]);
    let theirs = moving(theirs, &[4, 5, 6, 7, 8]);
    let added = theirs.add_clips(&character, &options("theirs")).unwrap();
    // left/a is joint 3, left/b joint 4, right/a joint 5. right/b has two candidates, and the third
    // a no place.
    assert_eq!(
        landed(&added.character.curves()[0]),
        [(4, 5), (6, 3), (7, 4)]
    );
    let ties = |in_skeleton, matched| {
        let kind = RepairKind::AmbiguousName {
            in_skeleton,
            matched,
        };
        repaired(&added, kind)
    };
    assert_eq!((ties(2, 2), ties(3, 1)), (vec![("a", 3)], vec![("b", 2)]));
    let left_out = repaired(&added, RepairKind::UnmatchedJoint);
    assert_eq!(left_out, [("b", 1), ("a", 1)]);
}

#[test]
fn morph_weights_are_matched_by_their_targets() {
    use throng::import::{RawKeys, RawMorph};
    let build = |owner: &str, names: &[&str]| {
        let mut raw = random::character(3);
        for node in &mut raw.nodes {
            node.name = "".into();
        }
        raw.morphs = vec![RawMorph {
            node: 0,
            owner: owner.into(),
            weights: vec![0.0; names.len()],
            names: names.iter().map(|name| (*name).into()).collect(),
        }];
        for primitive in &mut raw.primitives {
            primitive.morph = Some(0);
            primitive.targets = vec![Default::default(); names.len()];
        }
        let values = (0..2 * names.len()).map(|at| at as f32).collect();
        raw.animations = vec![animation(
            "talk",
            vec![linear(0, [0.0, 1.0], RawKeys::Weights(values))],
        )];
        raw
    };
    let ours = build("face", &["a", "e", "i", "o"]);
    let character = ours.build(&options("ours")).unwrap().character;
    // Another owner, another order: by name. "x" is nowhere.
    let added = build("Mesh", &["o", "x", "a", "e"])
        .add_clips(&character, &options(""))
        .unwrap();
    let tracks = added.character.curves()[1].weight_tracks();
    let all: Vec<_> = tracks
        .iter()
        .map(|t| (t.first_weight.index(), t.count, &*t.keys.values))
        .collect();
    assert_eq!(
        all,
        [(0, 2, &[2.0, 3.0, 6.0, 7.0][..]), (3, 1, &[0.0, 4.0][..])]
    );
    let lost = repaired(&added, RepairKind::UnmatchedWeight);
    assert_eq!(lost, [("Mesh.weights[x]", 1)]);
    // Without names: by owner and count, or not at all.
    let added = build("face", &["", "", "", ""])
        .add_clips(&character, &options(""))
        .unwrap();
    same_tracks(&added.character.curves()[1], &character.curves()[0]);
    let fewer = build("face", &["", ""]).add_clips(&character, &options(""));
    assert!(matches!(fewer, Err(Error::NoCommonJoints { .. })));
    // A skeleton without a mesh has no weights.
    let bare = RawCharacter::from_skeleton(character.skeleton());
    let bare = bare.build(&options("bare")).unwrap();
    let bare = build("face", &["a"]).add_clips(&bare, &options(""));
    assert!(matches!(bare, Err(Error::NoCommonJoints { .. })));
}

/// A character with all of its clips, and the same that got some of them later, are equal in all.
#[test]
fn clips_that_come_later_change_all_that_clips_change() {
    let (mut flips, mut compared) = (0, 0);
    for seed in 0..120 {
        let raw = random::morphing(seed);
        let whole = raw.clone().build(&options("c")).unwrap().character;
        let mut first = raw;
        first.animations.truncate(1);
        let first = first.build(&options("c")).unwrap().character;
        // Nodes that only a later clip moves are no joints.
        if first.skeleton() != whole.skeleton() {
            continue;
        }
        compared += 1;
        let differs = first.palette() != whole.palette();
        flips += usize::from(differs);
        let later = first.with_clips(whole.curves()[1..].to_vec()).unwrap();
        assert_eq!(later, whole, "seed {seed}");
    }
    assert!(
        flips > 5,
        "only {flips} characters had something to find anew"
    );
    assert!(compared > 40, "only {compared} characters compared");
}

#[test]
fn clips_of_other_characters_are_refused() {
    let small = load(&arm());
    let wide = random::morphing(7)
        .build(&options("wide"))
        .unwrap()
        .character;
    let error = small
        .clone()
        .with_clips(vec![small.curves()[0].clone(), wide.curves()[0].clone()]);
    error.fails("clip 1…: … does not exist: there are …");
}

/// Characters with equal and empty names, onto each other and onto themselves.
#[test]
fn random_characters_never_panic() {
    let mut rng = Rng::new(99);
    for seed in 0..120 {
        let ours = random::morphing(seed)
            .build(&options("ours"))
            .unwrap()
            .character;
        let other = if rng.chance(3) {
            seed
        } else {
            rng.bits() % 1000
        };
        let Ok(added) = random::morphing(other).add_clips(&ours, &options("theirs")) else {
            continue;
        };
        assert!(added.curves().len() > ours.curves().len());
        for repair in &added.repairs {
            if let RepairKind::AmbiguousName {
                in_skeleton,
                matched,
            } = repair.kind
            {
                assert!(matched <= in_skeleton.min(repair.count as usize));
            }
        }
    }
}

#[test]
#[cfg_attr(not(assets), ignore = "needs models: THRONG_ASSETS names a folder")]
fn models_take_their_own_clips_again() {
    for path in crate::reference::assets::files() {
        let options = options("model");
        let Ok(model) = throng_import::file(&path, &options) else {
            continue;
        };
        let named = model
            .skeleton()
            .joints()
            .iter()
            .any(|joint| !joint.name.is_empty());
        let animated = model.curves().iter().any(|clip| !clip.tracks().is_empty());
        if !(named && animated) {
            continue;
        }
        let added = throng_import::add_clips(&model, &path, &options).unwrap();
        let own = model.curves();
        assert_eq!(added.curves().len(), 2 * own.len(), "{}", path.display());
        for (before, after) in own.iter().zip(&added.curves()[own.len()..]) {
            same_tracks(before, after);
        }
        assert_eq!(differences(&added), [], "{}", path.display());
        assert_eq!(repaired(&added, RepairKind::EmptyClip), []);
        println!("{}: {} repairs", path.display(), added.repairs.len());
        for (at, name) in clip_names(&added).into_iter().enumerate().skip(own.len()) {
            assert_eq!(added.clip(name).unwrap().index(), at);
        }
    }
}
