//! Scenes, nodes and their transforms.

use crate::builder::*;
use crate::help::*;
use serde_json::json;
use throng::glam::{Mat4, Quat, Vec3};
use throng::import::ImportOptions;

#[test]
fn the_scene_is_the_option_the_default_the_first_or_all() {
    let mut b = triangle();
    b.add("nodes", json!({ "mesh": 0, "name": "Second" }));
    b.add("scenes", json!({ "nodes": [1] }));
    let name = |b: &Builder| import(b).skeleton().joints()[0].name.clone();
    assert_eq!(&*name(&b), "");
    b.json["scene"] = json!(1);
    assert_eq!(&*name(&b), "Second");
    let mut options = ImportOptions {
        scene: Some(0),
        ..ImportOptions::curves_only()
    };
    let c = throng_import::bytes(&b.glb(), &options).unwrap();
    assert_eq!(&*c.skeleton().joints()[0].name, "");
    options.scene = Some(2);
    throng_import::bytes(&b.glb(), &options).fails("unnamed: scene 2 does not exist: there are 2");
    b.json.as_object_mut().unwrap().remove("scenes");
    b.json.as_object_mut().unwrap().remove("scene");
    assert_eq!(import(&b).primitives().len(), 2);
}

#[test]
fn matrices_become_translation_rotation_scale() {
    let turn = Quat::from_axis_angle(Vec3::new(1.0, 2.0, 3.0).normalize(), 2.5);
    let scale = Vec3::new(2.0, 0.5, 3.0);
    for scale in [scale, -scale, Vec3::new(0.0, 1.0, 2.0), Vec3::ZERO] {
        let place = Vec3::new(4.0, -5.0, 6.0);
        let matrix = Mat4::from_scale_rotation_translation(scale, turn, place);
        let mut b = triangle();
        b.json["nodes"][0]["matrix"] = json!(matrix.to_cols_array());
        let rest = import(&b).skeleton().joints()[0].rest;
        let again = Mat4::from(rest.to_affine());
        assert!(again.abs_diff_eq(matrix, 1e-5), "{again} {matrix}");
    }
}

#[test]
fn a_chain_of_60_000_nodes() {
    let mut b = triangle();
    let last = 60_000;
    let mut nodes = vec![json!({ "mesh": 0 })];
    // Against the order of the file, so that each parent stands behind its child.
    nodes.extend((1..last).map(|n| json!({ "children": [n - 1], "translation": [0, 0.001, 0] })));
    b.json["nodes"] = json!(nodes);
    b.json["scenes"] = json!([{ "nodes": [last - 1] }]);
    let c = import(&b);
    assert_eq!(
        (c.skeleton().len(), c.skeleton().levels().len()),
        (last, last)
    );
    assert!((c.rest_bounds().min.y - 60.0).abs() < 0.1);
}

#[test]
fn joints_are_breadth_first() {
    let mut b = triangle();
    b.json["nodes"] = json!([
        { "name": "d", "mesh": 0 }, { "name": "b", "children": [0] },
        { "name": "e", "mesh": 0 }, { "name": "c", "children": [2] },
        { "name": "a", "children": [3, 1] },
    ]);
    b.json["scenes"] = json!([{ "nodes": [4] }]);
    let c = import(&b);
    let names: Vec<_> = c.skeleton().joints().iter().map(|j| &*j.name).collect();
    assert_eq!(names, ["a", "b", "c", "d", "e"]);
    assert_eq!(c.skeleton().levels(), [0..1, 1..3, 3..5]);
}
