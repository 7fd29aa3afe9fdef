//! Nodes that are refused or repaired.

use crate::builder::*;
use crate::help::*;
use crate::reference::cases;
use serde_json::json;
use throng::glam::{Quat, Vec3};

#[test]
fn hierarchies_that_are_no_forest() {
    for (case, changes, words) in cases![
        json!([{ "mesh": 0, "children": [0] }]) => "f: node 0: is its own ancestor";
        json!([{ "mesh": 0, "children": [1] }, { "children": [0] }])
            => "f: node 0: is its own ancestor";
        json!([{ "mesh": 0 }, { "children": [0] }, { "children": [0] }])
            => "f: node 0: is a child of node 1 and of node 2, but may have only one parent";
        json!([{ "mesh": 0 }, { "children": [0, 0] }])
            => "f: node 0: is a child of node 1 and of node 1, but may have only one parent";
        json!([{ "mesh": 0 }, { "children": [2] }, { "children": [3] }, { "children": [1] }])
            => "f: node 1: is its own ancestor";
    ] {
        let b = changed(&triangle(), "/nodes", changes);
        refused(&b.glb()).says_in(case, words);
    }
}

#[test]
fn a_scene_root_with_a_parent_keeps_it() {
    let nodes = json!([{ "mesh": 0 }, { "children": [0], "translation": [1, 2, 3] }]);
    let c = repaired(&changed(&triangle(), "/nodes", nodes));
    told(
        &c,
        &["scene 0, nodes: scene roots with a parent kept below it (1)"],
    );
    assert_eq!(c.skeleton().len(), 2);
    let plain = repaired(&triangle());
    let moved = plain.rest_bounds().min + Vec3::new(1.0, 2.0, 3.0);
    assert_eq!(c.rest_bounds().min, moved);
}

#[test]
fn a_slight_shear_is_removed_and_told() {
    let sheared = |by: f32| json!([{ "mesh": 0, "matrix": [1,0,0,0, by,1,0,0, 0,0,1,0, 0,0,0,1] }]);
    let c = repaired(&changed(&triangle(), "/nodes", sheared(5e-6)));
    told(&c, &[]);
    let c = repaired(&changed(&triangle(), "/nodes", sheared(5e-4)));
    told(
        &c,
        &["node 0, matrix: slight shear of a matrix removed (1)"],
    );
    let by_much = changed(&triangle(), "/nodes", sheared(5e-3));
    refused(&by_much.glb())
        .says("f: node 0, matrix: is not a product of translation, rotation and scale");
}

#[test]
fn transforms_that_are_not_allowed() {
    let node = |node| changed(&triangle(), "/nodes", json!([node]));
    for (case, b, words) in cases![
        node(json!({ "mesh": 0, "translation": [0, 1e39, 0] }))
            => "f: node 0, translation: component 1 is inf, must be finite";
        node(json!({ "mesh": 0, "scale": [-1e300, 1, 0] }))
            => "f: node 0, scale: component 0 is -inf, must be finite";
        node(json!({ "mesh": 0, "matrix": [1,0,0,0, 1,1,0,0, 0,0,1,0, 0,0,0,1] }))
            => "f: node 0, matrix: is not a product of translation, rotation and scale";
        node(json!({ "mesh": 0, "matrix": [1,0,0,0, 0,1,0,0, 0,0,1,0.5, 0,0,0,1] }))
            => "f: node 0, matrix: has a last row other than 0, 0, 0, 1";
        node(
            json!({ "mesh": 0, "matrix": [1,0,0,0, 0,2,0,0, 0,0,1,0, 0,0,0,1], "scale": [1,1,1] }),
        )
            => "f: node 0, matrix: is combined with translation, rotation or scale";
    ] {
        refused(&b.glb()).says_in(case, words);
    }
    let nodes =
        json!([{ "mesh": 0, "scale": [1e30, 1, 1] }, { "children": [0], "scale": [1e30, 1, 1] }]);
    let b = changed(&triangle(), "/nodes", nodes);
    let b = changed(&b, "/scenes", json!([{ "nodes": [1] }]));
    refused(&b.glb()).says("f: node 0: has a rest transform too large for 32-bit numbers");
}

#[test]
fn quaternions_of_nodes_are_repaired() {
    for (case, rotation, repair) in cases![
        json!([0, 0, 0, 0]) => Some("zero quaternions set to the identity");
        json!([0, 0, 0, 2]) => Some("quaternions normalised");
        json!([0, 0, 0, 1.001]) => None;
    ] {
        let c = repaired(&changed(&triangle(), "/nodes/0/rotation", rotation));
        assert_eq!(
            c.skeleton().joints()[0].rest.rotation,
            Quat::IDENTITY,
            "{case}"
        );
        let expected = repair.map(|kind| format!("f: node 0, rotation: {kind} (1)"));
        assert_eq!(
            c.repairs.first().map(ToString::to_string),
            expected,
            "{case}"
        );
    }
}
