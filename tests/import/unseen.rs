//! Nodes that draw nothing: sockets and targets below joints are joints, too.

use crate::builder::*;
use crate::help::*;
use serde_json::json;
use throng::character::{AnimationDesc, SocketDesc};
use throng::import::{ImportOptions, RepairKind};

fn names(b: &Builder) -> Vec<String> {
    let c = import(b);
    let joints = c.skeleton().joints().iter();
    joints.map(|joint| joint.name.to_string()).collect()
}

/// Adds a node below another one.
fn below(b: &mut Builder, parent: usize, node: serde_json::Value) -> usize {
    let node = b.add("nodes", node);
    let parent = &mut b.json["nodes"][parent];
    if parent["children"].is_null() {
        parent["children"] = json!([]);
    }
    parent["children"].as_array_mut().unwrap().push(json!(node));
    node
}

#[test]
fn named_and_animated_nodes_below_joints_are_kept() {
    let mut b = arm();
    let helper = below(&mut b, 3, json!({ "translation": [0.0, 0.5, 0.0] }));
    below(&mut b, helper, json!({ "name": "weapon" }));
    below(&mut b, helper, json!({}));
    let moved = below(&mut b, 2, json!({ "scale": [2.0, 2.0, 2.0] }));
    let mut channel = b.json["animations"][0]["channels"][0].clone();
    channel["target"]["node"] = json!(moved);
    let channels = b.json["animations"][0]["channels"].as_array_mut().unwrap();
    channels.push(channel);
    // Beside the joints, and elsewhere.
    below(&mut b, 1, json!({ "name": "beside" }));
    let elsewhere = b.add("nodes", json!({ "name": "marker" }));
    b.json["scenes"][0]["nodes"]
        .as_array_mut()
        .unwrap()
        .push(json!(elsewhere));
    assert_eq!(names(&b), ["Root", "Upper", "Lower", "", "", "weapon"]);
    let c = import(&b);
    assert_eq!((c.palette().len(), c.curves()[0].tracks().len()), (2, 2));
    assert!(c.repairs.is_empty(), "{:?}", c.repair_summary());
    let mut desc = AnimationDesc::default();
    desc.sockets.push(SocketDesc::new("sword", "weapon"));
    c.character.with_animation(&desc).unwrap();
    // If the root is animated, what is below it moves along.
    let mut channel = b.json["animations"][0]["channels"][0].clone();
    channel["target"]["node"] = json!(1);
    let channels = b.json["animations"][0]["channels"].as_array_mut().unwrap();
    channels.push(channel);
    assert!(names(&b).contains(&"beside".into()));
}

#[test]
fn objects_of_the_scene_are_no_sockets() {
    let mut b = arm();
    b.add("meshes", b.json["meshes"][0].clone());
    for node in [
        json!({ "name": "camera", "camera": 0 }),
        json!({ "name": "light", "extensions": { "KHR_lights_punctual": { "light": 0 } } }),
        json!({ "name": "skinned", "mesh": 1, "skin": 0 }),
        json!({ "name": "", "translation": [1.0, 0.0, 0.0] }),
    ] {
        below(&mut b, 3, node);
    }
    b.json["cameras"] = json!([{ "type": "perspective" }]);
    let camera = below(&mut b, 3, json!({ "name": "rig", "camera": 0 }));
    below(&mut b, camera, json!({ "name": "aim" }));
    // The camera is a joint only because of the target below it.
    assert_eq!(names(&b), ["Root", "Upper", "Lower", "rig", "aim"]);
    let rigid = below(&mut b, 3, json!({ "name": "sword", "mesh": 1 }));
    below(&mut b, rigid, json!({ "name": "tip" }));
    let options = ImportOptions {
        leave_out: vec!["sword".into()],
        ..ImportOptions::curves_only()
    };
    let c = throng_import::bytes(&b.glb(), &options).unwrap();
    assert_eq!(c.skeleton().len(), 5);
}

#[test]
fn nodes_beyond_the_limit_are_left_out() {
    let mut b = arm();
    let children: Vec<usize> = (4..66_000).collect();
    b.json["nodes"][3]["children"] = json!(children);
    let nodes = b.json["nodes"].as_array_mut().unwrap();
    nodes.extend(
        children
            .iter()
            .map(|number| json!({ "name": format!("n{number}") })),
    );
    let c = import(&b);
    assert_eq!(c.skeleton().len(), 3);
    let [repair] = &c.repairs[..] else {
        panic!("{:?}", c.repair_summary());
    };
    assert_eq!((&repair.kind, repair.count), (&RepairKind::LeftOut, 65_996));
    repair.object.part.says("nodes that draw nothing");
}
