//! Files that are libraries of clips: armatures that nothing draws, several with equal names, and
//! meshes that are none of the armature's.

use crate::builder::{Builder, F32, arm};
use serde_json::json;
use throng::character::Character;
use throng::clip::CurveClip;
use throng::glam::{Affine3A, Vec3};
use throng::import::{ImportOptions, Imported, RepairKind};
use throng::retarget::{JointMap, Retarget, RetargetOptions};
use throng::skeleton::Transform;

fn options(name: &str) -> ImportOptions {
    ImportOptions {
        name: name.into(),
        ..ImportOptions::curves_only()
    }
}

/// The arm, without clips.
fn target() -> Character {
    let mut file = arm();
    file.json.as_object_mut().unwrap().remove("animations");
    let imported = throng_import::bytes(&file.glb(), &options("arm")).unwrap();
    imported.character
}

/// Adds an armature like that of the arm, below a node with these properties. Returns its nodes.
fn armature(file: &mut Builder, mut above: serde_json::Value, number: &str) -> [usize; 3] {
    let first = file.json["nodes"].as_array().map_or(0, Vec::len);
    let name = |name: &str| format!("{name}{number}");
    above["children"] = json!([first + 1]);
    file.add("nodes", above);
    file.add(
        "nodes",
        json!({ "name": name("Upper"), "children": [first + 2] }),
    );
    file.add(
        "nodes",
        json!({ "name": name("Lower"), "translation": [0.0, 1.0, 0.0] }),
    );
    [first, first + 1, first + 2]
}

/// Adds a clip that turns each of these nodes about z by up to this angle, in radians.
fn clip(file: &mut Builder, name: &str, turns: &[(usize, f32)]) {
    let times = file.accessor("SCALAR", F32, &[0.0_f32, 1.0]);
    let (mut samplers, mut channels) = (Vec::new(), Vec::new());
    for (node, angle) in turns {
        let (sin, cos) = (angle * 0.5).sin_cos();
        let keys = file.accessor("VEC4", F32, &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, sin, cos]);
        channels.push(json!({
            "sampler": samplers.len(), "target": { "node": node, "path": "rotation" },
        }));
        samplers.push(json!({ "input": times, "output": keys }));
    }
    let clip = json!({ "name": name, "samplers": samplers, "channels": channels });
    file.add("animations", clip);
}

/// A cube that has nothing to do with the armature.
fn stray_mesh(file: &mut Builder) {
    let corners = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0_f32];
    let position = file.accessor("VEC3", F32, &corners);
    let mesh = json!({ "primitives": [{ "attributes": { "POSITION": position } }] });
    let mesh = file.add("meshes", mesh);
    file.add("nodes", json!({ "name": "Cube", "mesh": mesh }));
}

/// The angle by which each joint of the arm is turned about z at the end of a clip.
fn ends(character: &Character, clip: &CurveClip) -> Vec<f32> {
    let mut pose = character.skeleton().rest_pose();
    clip.sample(clip.duration_s().into(), &mut pose).unwrap();
    let angle = |local: &Transform| 2.0 * local.rotation.z.atan2(local.rotation.w);
    pose.iter().map(angle).collect()
}

fn near(got: &[f32], expected: &[f32]) {
    assert_eq!(got.len(), expected.len());
    let mut both = got.iter().zip(expected);
    assert!(
        both.all(|(a, b)| (a - b).abs() < 1e-5),
        "{got:?}, {expected:?}"
    );
}

/// The clips of a file on the arm, retargeted by names.
fn retargeted(onto: &Character, file: &Builder) -> Vec<CurveClip> {
    let from = throng_import::bytes(
        &file.glb(),
        &ImportOptions {
            meshes: false,
            ..ImportOptions::curves_only()
        },
    )
    .unwrap();
    let clips = from.curves().iter().map(|clip| {
        let map = JointMap::for_clip(clip, from.skeleton(), onto.skeleton(), JointMap::by_names);
        let map = map.unwrap();
        let options = RetargetOptions::default();
        let retarget = Retarget::new(from.skeleton(), onto.skeleton(), &map, &options);
        retarget.unwrap().clip(clip).unwrap().0
    });
    clips.collect()
}

/// Checks where the joints of the arm (`Root`, `Upper`, `Lower`) end in each clip of a file, by all
/// ways that give it these clips.
fn check(file: &Builder, expected: &[[f32; 3]]) -> Imported {
    let onto = target();
    let added = throng_import::add_clips_bytes(&onto, &file.glb(), &options("library")).unwrap();
    assert_eq!(added.curves().len(), expected.len());
    let retargeted = retargeted(&onto, file);
    assert_eq!(retargeted.len(), expected.len());
    for ((copy, other), expected) in added.curves().iter().zip(&retargeted).zip(expected) {
        near(&ends(&onto, copy), expected);
        near(&ends(&onto, other), expected);
    }
    added
}

#[test]
fn a_clip_is_for_the_armature_that_it_moves() {
    let mut file = arm();
    let walk = armature(&mut file, json!({ "name": "Walk" }), "");
    let wave = armature(&mut file, json!({ "name": "Wave" }), "");
    file.json["animations"] = json!([]);
    clip(&mut file, "Rest", &[(3, 0.1)]);
    clip(&mut file, "Walk", &[(walk[2], 0.2), (walk[1], 0.3)]);
    clip(&mut file, "Wave", &[(wave[2], 0.4)]);
    let expected = [[0.0, 0.0, 0.1], [0.0, 0.3, 0.2], [0.0, 0.0, 0.4]];
    let told = |added: &Imported| {
        let repairs = added.repairs.iter();
        let of_root = |kind: &RepairKind| {
            matches!(
                kind,
                RepairKind::RestDiffers {
                    other_parent: true,
                    ..
                }
            )
        };
        let repairs: Vec<_> = repairs
            .map(|one| (&*one.object.part, of_root(&one.kind)))
            .collect();
        // Their parents are no "Root".
        assert_eq!(repairs, [("Upper", true), ("Upper", true)]);
    };
    told(&check(&file, &expected));
    // The same below one node, as converters of scenes write.
    let nodes = file.json["nodes"].as_array().unwrap();
    let has_parent = |node: usize| {
        let mut children = nodes.iter().filter_map(|one| one["children"].as_array());
        children.any(|children| children.contains(&json!(node)))
    };
    let roots: Vec<usize> = (0..nodes.len()).filter(|node| !has_parent(*node)).collect();
    file.add("nodes", json!({ "name": "Scene", "children": roots }));
    told(&check(&file, &expected));
}

#[test]
fn of_two_armatures_in_one_clip_the_one_that_moves_counts() {
    let mut file = Builder::default();
    let first = armature(&mut file, json!({ "name": "First" }), "");
    let second = armature(&mut file, json!({ "name": "Second" }), "");
    // Exporters write keys for both, of which one stands still.
    clip(
        &mut file,
        "A",
        &[(first[2], 0.5), (second[2], 0.0), (first[1], 0.25)],
    );
    clip(
        &mut file,
        "B",
        &[(first[2], 0.0), (first[1], 0.0), (second[2], 0.75)],
    );
    // If both move alike, it is the first.
    clip(&mut file, "C", &[(second[2], 0.125), (first[2], 0.375)]);
    let added = check(
        &file,
        &[[0.0, 0.25, 0.5], [0.0, 0.0, 0.75], [0.0, 0.0, 0.375]],
    );
    let unmatched = added
        .repairs
        .iter()
        .filter(|repair| repair.kind == RepairKind::UnmatchedJoint);
    let unmatched: Vec<_> = unmatched
        .map(|one| (&*one.object.part, one.count))
        .collect();
    assert_eq!(unmatched, [("Upper", 1), ("Lower", 1), ("Lower", 2)]);
}

#[test]
fn what_a_file_draws_decides_nothing() {
    // A mesh that is none of the armature's, and a skin of one joint.
    let mut stray = Builder::default();
    let [_, upper, lower] = armature(&mut stray, json!({ "name": "Root" }), "");
    clip(&mut stray, "Bend", &[(lower, 0.5), (upper, 0.25)]);
    let bare = stray.clone();
    stray_mesh(&mut stray);
    let mut partly = arm();
    partly.json["animations"] = json!([]);
    clip(&mut partly, "Bend", &[(3, 0.5), (2, 0.25)]);
    partly.json["skins"][0] = json!({ "joints": [2, 2] });
    for file in [&stray, &bare, &partly] {
        check(file, &[[0.0, 0.25, 0.5]]);
    }
    let from = throng_import::bytes(
        &stray.glb(),
        &ImportOptions {
            meshes: false,
            ..ImportOptions::curves_only()
        },
    )
    .unwrap();
    assert_eq!((from.primitives().len(), from.skeleton().len()), (0, 4));
    assert!(from.images().is_empty());
}

#[test]
fn numbers_that_tell_equal_names_apart_are_ignored() {
    for numbers in [["_1", "_2"], [".001", ".002"]] {
        let mut file = Builder::default();
        let first = armature(&mut file, json!({ "name": "Walk" }), "");
        let others = numbers.map(|number| armature(&mut file, json!({ "name": number }), number));
        clip(&mut file, "A", &[(first[2], 0.1)]);
        clip(&mut file, "B", &[(others[0][2], 0.2)]);
        clip(&mut file, "C", &[(others[1][2], 0.3), (others[1][1], 0.4)]);
        let onto = target();
        let ends: Vec<_> = retargeted(&onto, &file)
            .iter()
            .map(|clip| ends(&onto, clip))
            .collect();
        near(
            &ends.concat(),
            &[0.0, 0.0, 0.1, 0.0, 0.0, 0.2, 0.0, 0.4, 0.3],
        );
    }
}

/// Centimetres with another axis up, and an object that carries the armature along.
#[test]
fn nodes_above_the_joints_keep_their_share_of_the_motion() {
    let mut file = Builder::default();
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let above = json!({
        "name": "Object", "scale": [0.01, 0.01, 0.01], "rotation": [-half, 0.0, 0.0, half],
    });
    let [object, upper, lower] = armature(&mut file, above, "");
    // Up is z, in centimetres.
    file.json["nodes"][lower]["translation"] = json!([0.0, 0.0, 100.0]);
    file.json["nodes"][upper]["translation"] = json!([0.0, 0.0, 0.0]);
    let times = file.accessor("SCALAR", F32, &[0.0_f32, 1.0]);
    let keys = file.accessor("VEC3", F32, &[0.0_f32, 0.0, 0.0, 0.0, 0.0, 3.0]);
    file.json["animations"] = json!([{
        "name": "Run", "samplers": [{ "input": times, "output": keys }],
        "channels": [{ "sampler": 0, "target": { "node": object, "path": "translation" } }],
    }]);
    stray_mesh(&mut file);
    let onto = target();
    let clips = retargeted(&onto, &file);
    let mut pose = onto.skeleton().rest_pose();
    clips[0].sample(1.0, &mut pose).unwrap();
    let mut model = vec![Affine3A::IDENTITY; pose.len()];
    onto.skeleton().model_pose(&pose, &mut model).unwrap();
    let at =
        |name: &str| Vec3::from(model[onto.skeleton().joint(name).unwrap().index()].translation);
    assert!(
        at("Upper").abs_diff_eq(Vec3::new(0.0, 0.0, 3.0), 1e-5),
        "{}",
        at("Upper")
    );
    assert!(
        at("Lower").abs_diff_eq(Vec3::new(0.0, 1.0, 3.0), 1e-5),
        "{}",
        at("Lower")
    );
}
