//! Keys that are refused or repaired.

use crate::builder::*;
use crate::help::*;
use crate::reference::cases;
use serde_json::json;
use throng::clip::TrackValues;
use throng::import::{ImportOptions, Imported};

#[test]
fn key_times_that_are_not_allowed() {
    let range = "must be finite and at least 0";
    for (case, times, words) in cases![
        [-0.5, 0.5, 1.0] => &*format!("the time of key 0 is -0.5, {range}");
        [0.5, 0.5, 0.25] => "key 2 is at 0.25 s, before the previous key at 0.5 s";
        [0.0, 2.0, 1.0] => "key 2 is at 1 s, before the previous key at 2 s";
        [0.0, f32::NAN, 1.0] => &format!("the time of key 1 is NaN, {range}");
        [0.0, 1.0, f32::INFINITY] => &format!("the time of key 2 is inf, {range}");
    ] {
        let mut b = arm();
        let accessor = b.accessor("SCALAR", F32, &times);
        b.json["animations"][0]["samplers"][0]["input"] = json!(accessor);
        let words = format!("f: animation 0, samplers[0].input: {words}");
        refused(&b.glb()).says_in(case, words);
    }
}

#[test]
fn values_and_targets_that_are_not_allowed() {
    let mut b = arm();
    let mut turns = [0.5_f32; 12];
    turns[5] = f32::NAN;
    let accessor = b.accessor("VEC4", F32, &turns);
    let b = changed(&b, "/animations/0/samplers/0/output", json!(accessor));
    refused(&b.glb()).says("f: animation 0, channels[0], value 1: a value is not finite");
    let mut b = arm();
    let channel = b.json["animations"][0]["channels"][0].clone();
    b.json["animations"][0]["channels"]
        .as_array_mut()
        .unwrap()
        .push(channel);
    refused(&b.glb())
        .says("f: animation 0, channels[1].target: is already driven by another channel");
    let mut b = arm();
    let places = b.normalized("VEC3", I16, &[0_i16; 9]);
    b.json["animations"][0]["samplers"][0]["output"] = json!(places);
    b.json["animations"][0]["channels"][0]["target"]["path"] = json!("translation");
    refused(&b.glb()).says("…5122 (normalised), which is not allowed here (5126)…");
}

fn keys(interpolation: &str, values: &[f32]) -> Imported {
    let mut b = arm();
    let accessor = b.accessor("VEC4", F32, values);
    let sampler = &mut b.json["animations"][0]["samplers"][0];
    sampler["output"] = json!(accessor);
    sampler["interpolation"] = json!(interpolation);
    repaired(&b)
}

fn rotations(imported: &Imported) -> Vec<[f32; 4]> {
    match &imported.curves()[0].tracks()[0].values {
        TrackValues::Rotation(keys) => keys.values.iter().map(|q| q.to_array()).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn rotation_keys_are_repaired() {
    const I: [f32; 4] = [0.0, 0.0, 0.0, 1.0];
    let c = keys("LINEAR", &[[0.0; 4], [0.0, 0.0, 0.0, 2.0], I].concat());
    told(
        &c,
        &[
            "animation 0: zero quaternions set to the identity (1)",
            "animation 0: quaternions normalised (1)",
        ],
    );
    assert_eq!(rotations(&c), [I; 3]);
    let turned = [0.6, 0.0, 0.0, -0.8];
    let c = keys("LINEAR", &[I, turned, I].concat());
    told(
        &c,
        &["animation 0: rotation keys flipped onto the shortest arc (1)"],
    );
    assert_eq!(rotations(&c), [I, [-0.6, 0.0, 0.0, 0.8], I]);
    let c = keys("STEP", &[I, turned, I].concat());
    told(&c, &[]);
    assert_eq!(rotations(&c)[1], turned);
}

#[test]
fn keys_at_equal_times_jump() {
    const I: [f32; 4] = [0.0, 0.0, 0.0, 1.0];
    let turned = [1.0, 0.0, 0.0, 0.0];
    let mut b = arm();
    let times = b.accessor("SCALAR", F32, &[0.0_f32, 1.0, 1.0, 2.0]);
    let turns = b.accessor("VEC4", F32, &[I, I, turned, turned].concat());
    b.json["animations"][0]["samplers"][0] = json!({ "input": times, "output": turns });
    let c = repaired(&b);
    told(&c, &["animation 0: keys with equal times separated (1)"]);
    assert_eq!(rotations(&c), [I, I, turned, turned]);
    let keys = c.curves()[0].tracks()[0].values.times_s();
    assert_eq!(keys, [0.0, 1.0_f32.next_down(), 1.0, 2.0]);
}

#[test]
fn tangents_are_left_alone() {
    let tangent = [3.0, 0.0, 0.0, -7.0];
    let value = [0.0, 0.0, 0.0, -2.0];
    let c = keys(
        "CUBICSPLINE",
        &[
            tangent, [0.0; 4], [0.0; 4], [0.0; 4], value, tangent, tangent, value, tangent,
        ]
        .concat(),
    );
    told(
        &c,
        &["animation 0: zero quaternions set to the identity (1)"],
    );
    let read = rotations(&c);
    assert_eq!(
        (read[0], read[1], read[2]),
        (tangent, [0.0, 0.0, 0.0, 1.0], [0.0; 4])
    );
    assert_eq!((read[4], read[5]), (value, tangent));
}

#[test]
fn channels_of_other_paths_are_left_out() {
    let mut b = arm();
    let mut channel = b.json["animations"][0]["channels"][0].clone();
    channel["target"]["path"] = json!("spin");
    let channels = b.json["animations"][0]["channels"].as_array_mut().unwrap();
    channels.extend([channel.clone(), channel]);
    let c = repaired(&b);
    told(
        &c,
        &["animation 0, channels of other paths: left out, because it is not supported (2)"],
    );
    assert_eq!(c.curves(), repaired(&arm()).curves());
    // Its node is still checked.
    b.json["animations"][0]["channels"][1]["target"]["node"] = json!(99);
    refused(&b.glb())
        .says("f: animation 0, channels[1].target.node: refers to node 99, but there are 4");
}

#[test]
fn animations_without_channels_become_clips_without_tracks() {
    for lists in [
        json!({ "channels": [], "samplers": [] }),
        json!({ "channels": [] }),
        json!({}),
    ] {
        let mut b = arm();
        b.add("animations", lists);
        let packed = ImportOptions {
            name: "f".into(),
            ..ImportOptions::default()
        };
        let c = throng_import::bytes(&b.glb(), &packed).unwrap();
        told(&c, &["animation 1: animation without channels (1)"]);
        assert_eq!((c.clips().len(), c.clips()[1].duration_s()), (2, 0.0));
        let c = repaired(&b);
        assert_eq!((c.curves().len(), c.curves()[1].tracks()), (2, &[][..]));
    }
}

#[test]
fn animated_matrices_are_split() {
    let mut b = arm();
    let node = b.json["animations"][0]["channels"][0]["target"]["node"].clone();
    let node = &mut b.json["nodes"][node.as_u64().unwrap() as usize];
    let parts = node.as_object_mut().unwrap();
    for part in ["translation", "rotation", "scale"] {
        parts.remove(part);
    }
    let without = repaired(&b);
    told(&without, &[]);
    let node = b.json["animations"][0]["channels"][0]["target"]["node"].clone();
    b.json["nodes"][node.as_u64().unwrap() as usize]["matrix"] =
        json!([2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 1, 2, 3, 1]);
    let c = repaired(&b);
    let words = "animation 0: animated matrices split into translation, rotation and scale (1)";
    told(&c, &[words]);
    assert_eq!(c.curves(), without.curves());
    let rest = c.skeleton().joints().iter().map(|joint| joint.rest);
    assert!(
        rest.clone()
            .any(|rest| rest.scale.x == 2.0 && rest.translation.z == 3.0)
    );
}
