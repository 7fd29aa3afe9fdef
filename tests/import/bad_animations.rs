//! Keys that are refused or repaired.

use crate::builder::*;
use crate::help::*;
use serde_json::json;
use throng::clip::TrackValues;
use throng::import::Imported;

#[test]
fn key_times_that_are_not_allowed() {
    for (times, key, value) in [
        ([-0.5, 0.5, 1.0], 0, "-0.5"),
        ([0.5, 0.5, 0.0], 2, "0"),
        ([0.0, 2.0, 1.0], 2, "1"),
        ([0.0, f32::NAN, 1.0], 1, "NaN"),
        ([0.0, 1.0, f32::INFINITY], 2, "inf"),
    ] {
        let mut b = arm();
        let accessor = b.accessor("SCALAR", F32, &times);
        b.json["animations"][0]["samplers"][0]["input"] = json!(accessor);
        let words = format!(
            "f: animation 0, samplers[0].input: the time of key {key} is {value}, must be finite"
        );
        assert_eq!(refused(&b.glb()), words);
    }
}

#[test]
fn values_and_targets_that_are_not_allowed() {
    let mut b = arm();
    let mut turns = [0.5_f32; 12];
    turns[5] = f32::NAN;
    let accessor = b.accessor("VEC4", F32, &turns);
    let b = changed(&b, "/animations/0/samplers/0/output", json!(accessor));
    assert_eq!(
        refused(&b.glb()),
        "f: animation 0, channels[0], value 1: a value is not finite"
    );
    let mut b = arm();
    let channel = b.json["animations"][0]["channels"][0].clone();
    b.json["animations"][0]["channels"]
        .as_array_mut()
        .unwrap()
        .push(channel);
    assert_eq!(
        refused(&b.glb()),
        "f: animation 0, channels[1].target: is already driven by another channel"
    );
    let mut b = arm();
    let places = b.normalized("VEC3", I16, &[0_i16; 9]);
    b.json["animations"][0]["samplers"][0]["output"] = json!(places);
    b.json["animations"][0]["channels"][0]["target"]["path"] = json!("translation");
    assert!(refused(&b.glb()).contains("5122 (normalised), which is not allowed here (5126)"));
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
