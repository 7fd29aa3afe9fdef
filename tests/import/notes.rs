//! Files that are loaded as they are, and reported.

use crate::builder::*;
use crate::help::*;
use serde_json::json;
use throng::error::ObjectKind;
use throng::import::{Imported, RepairKind};

/// The kind of object, index, part and count of all repairs of a kind.
fn of(c: &Imported, kind: RepairKind) -> Vec<(ObjectKind, Option<usize>, &str, u64)> {
    let repairs = c.repairs.iter().filter(|repair| repair.kind == kind);
    repairs
        .map(|one| {
            (
                one.object.kind,
                one.object.index,
                &*one.object.part,
                one.count,
            )
        })
        .collect()
}

#[test]
fn joints_outside_the_scene() {
    let mut b = arm();
    b.json["scenes"] = json!([{ "nodes": [0] }]);
    let c = repaired(&b);
    let told = of(&c, RepairKind::JointsOutsideScene);
    assert_eq!(told, [(ObjectKind::Skin, Some(0), "joints", 2)]);
    assert_eq!(c.skeleton().len(), 3);
    // A skin that nothing uses.
    let mut b = arm();
    let outside = b.add("nodes", json!({ "name": "outside" }));
    b.add("skins", json!({ "joints": [outside] }));
    assert_eq!(repaired(&b).repairs, []);
}

#[test]
fn a_root_of_the_skeleton_that_is_none() {
    for (root, count) in [(1, 0), (2, 0), (3, 1), (0, 2)] {
        let mut b = arm();
        b.json["skins"][0]["skeleton"] = json!(root);
        let c = repaired(&b);
        let told = of(&c, RepairKind::SkeletonRoot);
        let expected = (ObjectKind::Skin, Some(0), "skeleton", count);
        assert_eq!(
            told,
            if count > 0 { vec![expected] } else { vec![] },
            "node {root}"
        );
        assert_eq!(c.character, repaired(&arm()).character);
    }
}

#[test]
fn splines_that_leave_their_keys() {
    for (tangent, count) in [(0.0, 0), (30.0, 0), (3e3, 1), (1e15, 1)] {
        let mut b = arm();
        // Three keys. The one in the middle has the out-tangent.
        let mut keys = [[0.0_f32; 3]; 9];
        keys[5] = [0.0, tangent, 0.0];
        let keys = b.accessor("VEC3", F32, keys.as_flattened());
        let times = b.json["animations"][0]["samplers"][0]["input"].clone();
        let sampler = json!({ "input": times, "output": keys, "interpolation": "CUBICSPLINE" });
        b.json["animations"][0]["samplers"] = json!([sampler]);
        b.json["animations"][0]["channels"][0]["target"]["path"] = json!("translation");
        let told = repaired(&b);
        let told = of(&told, RepairKind::SplineOvershoots);
        let expected = (ObjectKind::Animation, Some(0), "", count);
        assert_eq!(
            told,
            if count > 0 { vec![expected] } else { vec![] },
            "{tangent}"
        );
    }
}

#[test]
fn control_characters_in_names() {
    let mut b = arm();
    b.json["nodes"][3]["name"] = json!("Lower\u{1b}[2J");
    b.json["animations"][0]["name"] = json!("Bend\n");
    b.json["materials"][0]["name"] = json!("Sk\u{202e}in");
    let still = b.accessor("VEC3", F32, &[0.0_f32; 18]);
    b.json["meshes"][0]["primitives"][0]["targets"] =
        json!([{ "POSITION": still }, { "POSITION": still }]);
    b.json["meshes"][0]["extras"] = json!({ "targetNames": ["a\u{0}", "b"] });
    let c = repaired(&b);
    let told = of(&c, RepairKind::ControlCharacters);
    let expected = [
        (ObjectKind::Node, Some(3), "Lower\u{1b}[2J", 1),
        (ObjectKind::Material, Some(0), "Sk\u{202e}in", 1),
        (ObjectKind::Animation, Some(0), "Bend\n", 1),
        (ObjectKind::Node, Some(0), "names of morph targets", 1),
    ];
    assert_eq!(told, expected);
    assert_eq!(&*c.skeleton().joints()[2].name, "Lower\u{1b}[2J");
    assert!(
        c.repair_summary()
            .iter()
            .all(|line| !line.contains(char::is_control))
    );
    let added = throng_import::add_clips_bytes(&c, &b.glb(), &Default::default()).unwrap();
    assert_eq!(of(&added, RepairKind::ControlCharacters).len(), 3);
}
