//! Animations of every kind.

use crate::builder::*;
use crate::help::*;
use serde_json::json;
use throng::clip::{Interpolation, TrackValues};
use throng::glam::{Quat, Vec3};

#[test]
fn translation_rotation_scale_in_every_interpolation() {
    for (name, interpolation, per_key) in [
        ("STEP", Interpolation::Step, 1),
        ("LINEAR", Interpolation::Linear, 1),
        ("CUBICSPLINE", Interpolation::CubicSpline, 3),
    ] {
        let mut b = arm();
        let times = b.accessor("SCALAR", F32, &[1.5_f32, 4.0]);
        let vectors: Vec<f32> = (0..6 * per_key).map(|v| v as f32).collect();
        let vectors = b.accessor("VEC3", F32, &vectors);
        let turns = b.accessor("VEC4", F32, &[0.0, 0.0, 0.0, 1.0_f32].repeat(2 * per_key));
        b.json["animations"] = json!([{ "samplers": [
                { "input": times, "output": vectors, "interpolation": name },
                { "input": times, "output": turns, "interpolation": name } ],
            "channels": [
                { "sampler": 0, "target": { "node": 3, "path": "scale" } },
                { "sampler": 1, "target": { "node": 3, "path": "rotation" } },
                { "sampler": 0, "target": { "node": 3, "path": "translation" } } ] }]);
        let c = import(&b);
        let clip = &c.curves()[0];
        assert_eq!(
            (clip.start_s(), clip.duration_s()),
            (1.5, 4.0),
            "it starts late"
        );
        let [
            TrackValues::Translation(t),
            TrackValues::Rotation(r),
            TrackValues::Scale(s),
        ] = [0, 1, 2].map(|at| clip.tracks()[at].values.clone())
        else {
            panic!("{clip:?}");
        };
        assert_eq!(
            (t.interpolation, t.values.len()),
            (interpolation, 2 * per_key)
        );
        assert_eq!(
            (r.interpolation, r.values.len()),
            (interpolation, 2 * per_key)
        );
        assert_eq!(
            (s.interpolation, s.values[1]),
            (interpolation, Vec3::new(3.0, 4.0, 5.0))
        );
    }
}

#[test]
fn the_default_interpolation_is_linear() {
    let mut b = arm();
    let sampler = b.json["animations"][0]["samplers"][0]
        .as_object_mut()
        .unwrap();
    sampler.remove("interpolation");
    assert_eq!(import(&b).curves(), import(&arm()).curves());
}

#[test]
fn one_key_and_no_channel() {
    let mut b = arm();
    let times = b.accessor("SCALAR", F32, &[0.0_f32]);
    let place = b.accessor("VEC3", F32, &[1.0, 2.0, 3.0_f32]);
    b.add(
        "animations",
        json!({ "name": "Pose",
        "samplers": [{ "input": times, "output": place }],
        "channels": [{ "sampler": 0, "target": { "node": 2, "path": "translation" } }] }),
    );
    b.add(
        "animations",
        json!({ "name": "Elsewhere",
        "samplers": [{ "input": times, "output": place }],
        "channels": [{ "sampler": 0, "target": { "node": 0, "path": "translation" } },
                     { "sampler": 0, "target": { "path": "pointer" } }] }),
    );
    let c = import(&b);
    let names: Vec<_> = c.curves().iter().map(|clip| clip.name()).collect();
    assert_eq!(
        names,
        ["Bend", "Pose", "Elsewhere"],
        "numbered as in the file"
    );
    assert_eq!(
        (c.curves()[1].tracks().len(), c.curves()[1].duration_s()),
        (1, 0.0)
    );
    assert_eq!(
        (c.curves()[2].tracks().len(), c.curves()[2].duration_s()),
        (0, 0.0)
    );
    told(
        &c,
        &[
            "animation 2, channels without a node: left out, because it is not supported (1)",
            "animation 2, channels on nodes that are not in the skeleton: left out, because it \
             is not supported (1)",
        ],
    );
}

#[test]
fn quantised_rotation_keys() {
    let half = std::f32::consts::FRAC_1_SQRT_2;
    for (output, normalized, tolerance) in [
        (
            I8,
            Box::new(|b: &mut Builder| b.normalized("VEC4", I8, &[0_i8, 0, 90, 90, 0, 0, 0, 127]))
                as Box<dyn Fn(&mut Builder) -> usize>,
            0.01,
        ),
        (
            I16,
            Box::new(|b: &mut Builder| {
                b.normalized("VEC4", I16, &[0_i16, 0, 23170, 23170, 0, 0, 0, 32767])
            }),
            1e-4,
        ),
        (
            U8,
            Box::new(|b: &mut Builder| {
                b.normalized("VEC4", U8, &[0_u8, 0, 180, 180, 0, 0, 0, 255])
            }),
            0.01,
        ),
        (
            U16,
            Box::new(|b: &mut Builder| {
                b.normalized("VEC4", U16, &[0_u16, 0, 46340, 46340, 0, 0, 0, 65535])
            }),
            1e-4,
        ),
    ] {
        let mut b = arm();
        let times = b.accessor("SCALAR", F32, &[0.0_f32, 1.0]);
        let turns = normalized(&mut b);
        b.json["animations"][0]["samplers"][0] = json!({ "input": times, "output": turns });
        let c = import(&b);
        assert_eq!(c.repairs, [], "{output}");
        let TrackValues::Rotation(keys) = &c.curves()[0].tracks()[0].values else {
            panic!("{output}");
        };
        assert!(keys.values[0].abs_diff_eq(Quat::from_xyzw(0.0, 0.0, half, half), tolerance));
        assert!(keys.values.iter().all(|q| (q.length() - 1.0).abs() < 1e-6));
    }
}
