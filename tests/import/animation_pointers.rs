//! Channels of `KHR_animation_pointer`.

use crate::builder::*;
use crate::help::*;
use serde_json::{Value, json};

/// The file whose channels have these pointers in place of node and path. It requires the
/// extension.
fn pointed(mut b: Builder, pointers: &[&str]) -> Builder {
    b.json["extensionsRequired"] = json!(["KHR_animation_pointer"]);
    let channel = |pointer: &&str| {
        json!({ "sampler": 0, "target": { "path": "pointer",
        "extensions": { "KHR_animation_pointer": { "pointer": pointer } } } })
    };
    let channels: Vec<Value> = pointers.iter().map(channel).collect();
    b.json["animations"][0]["channels"] = json!(channels);
    b
}

#[test]
fn pointers_to_properties_of_nodes_are_ordinary_channels() {
    let c = import(&pointed(arm(), &["/nodes/3/rotation"]));
    assert_eq!(
        (c.curves(), &c.repairs[..]),
        (import(&arm()).curves(), &[][..])
    );
    let mut b = triangle();
    let target = b.accessor("VEC3", F32, &[0.5_f32; 9]);
    b.json["meshes"][0]["primitives"][0]["targets"] = json!([{ "POSITION": target }]);
    let times = b.accessor("SCALAR", F32, &[0.0_f32, 1.0]);
    let weights = b.accessor("SCALAR", F32, &[0.0_f32, 1.0]);
    b.json["animations"] = json!([{ "samplers": [{ "input": times, "output": weights }],
        "channels": [{ "sampler": 0, "target": { "node": 0, "path": "weights" } }] }]);
    let c = import(&pointed(b.clone(), &["/nodes/0/weights"]));
    assert_eq!((c.curves(), c.curves().len()), (import(&b).curves(), 1));
    // Translations and scales, of the times themselves.
    let mut b = triangle();
    let times = b.accessor("SCALAR", F32, &[0.0_f32, 1.0]);
    let vectors = b.accessor("VEC3", F32, &[0.0_f32, 0.0, 0.0, 1.0, 2.0, 3.0]);
    b.json["animations"] = json!([{ "samplers": [{ "input": times, "output": vectors }] }]);
    let c = import(&pointed(b, &["/nodes/0/translation", "/nodes/0/scale"]));
    assert!(c.repairs.is_empty() && c.curves()[0].duration_s() == 1.0);
}

#[test]
fn other_pointers_are_reported_by_their_pattern() {
    let b = pointed(
        arm(),
        &[
            "/materials/0/emissiveFactor",
            "/materials/12/emissiveFactor",
            "/nodes/2/extensions/KHR_node_visibility/visible",
            "/nodes/99/rotation",
            "/nodes/+3/rotation",
            "/nodes//rotation",
            "/nodes/3/rotation/0",
            "/cameras/0/perspective/yfov",
            "",
            "/nodes/3/rotation",
        ],
    );
    let left_out = "left out, because it is not supported";
    let word =
        |what: &str, count: u32| format!("animation 0, channels of {what}: {left_out} ({count})");
    let expected = [
        word("", 1),
        word("/cameras/{}/perspective/yfov", 1),
        word("/materials/{}/emissiveFactor", 2),
        word("/nodes/+3/rotation", 1),
        word("/nodes//rotation", 1),
        word("/nodes/{}/extensions/KHR_node_visibility/visible", 1),
        word("/nodes/{}/rotation", 1),
        word("/nodes/{}/rotation/{}", 1),
    ];
    let c = repaired(&b);
    told(&c, &expected.each_ref().map(String::as_str));
    assert_eq!(c.curves(), import(&arm()).curves());
    // The same patterns of several animations are one line.
    let mut b = pointed(arm(), &["/materials/0/alphaCutoff"]);
    let animation = b.json["animations"][0].clone();
    b.json["animations"] = json!([animation, animation, animation]);
    let words = "f: animation 0, channels of /materials/{}/alphaCutoff and 2 more: left out, \
        because it is not supported (3)";
    assert_eq!(repaired(&b).repair_summary(), [words]);
}

#[test]
fn a_property_is_driven_once() {
    let b = pointed(arm(), &["/nodes/3/rotation", "/nodes/3/rotation"]);
    let words = "f: animation 0, channels[1].target: is already driven by another channel";
    assert_eq!(refused(&b.glb()), words);
}
