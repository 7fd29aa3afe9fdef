//! Keys half a turn apart turn the way of glTF's formula, in curves and in packed clips.
//!
//! The dot product of such keys is 0 except for rounding, so nothing but the sign of that rounding
//! decides.

use crate::reference::maths::slerp;
use crate::reference::raws::linear;
use crate::reference::rig;
use crate::reference::rng::Rng;
use throng::Id;
use throng::character::{Character, PoseReference};
use throng::clip::{Clip, ClipOptions};
use throng::clip::{CurveClip, Interpolation, Track, TrackValues};
use throng::glam::{Quat, Vec3};
use throng::import::{ImportOptions, RawAnimation, RawCharacter, RawKeys};
use throng::skeleton::Transform;

/// The largest difference from the formula, in radians: the bound of packing, 0.1 mm at a metre or
/// less. The other way would be at least 0.6 rad off.
const PACKED_RAD: f32 = 0.01;
/// The rounding of curves: `f32` numbers, and the length of keys that are not quite unit length.
const CURVE_RAD: f32 = 4e-6;
const PARTS: [f64; 4] = [0.1, 0.25, 0.5, 0.9];

/// The angle between two rotations.
fn apart(a: Quat, b: Quat) -> f32 {
    let chord = (a - b).length().min((a + b).length());
    4.0 * (0.5 * chord).min(1.0).asin()
}

/// Spherical interpolation of keys as the file has them: glTF 2.0, appendix C.4.
fn gltf(from: Quat, to: Quat, part: f64) -> Quat {
    let [from, to] = [from, to].map(|q| q.to_array().map(f64::from));
    Quat::from_array(slerp(from, to, part).map(|v| v as f32)).normalize()
}

/// Half turns as exporters write them: the cosine is 0, except for rounding of either sign.
fn half_turn(rng: &mut Rng) -> [Quat; 2] {
    let tiny = [4.5e-11, 0.0, 1e-30, 3e-8, 4e-7][rng.below(5)] * [1.0, -1.0][rng.below(2)];
    let sign = |rng: &mut Rng| [1.0, -1.0][rng.below(2)];
    match rng.below(4) {
        // The turns of the model `box_animated`.
        0 => {
            let to = [
                Quat::from_xyzw(1.0, 0.0, 0.0, tiny),
                Quat::from_xyzw(0.0, 0.0, 1.0, tiny),
            ][rng.below(2)];
            [Quat::IDENTITY * sign(rng), to * sign(rng)]
        }
        kind => {
            let from = rng.rotation();
            let axis = match rng.below(3) {
                0 => rng.direction(),
                _ => [Vec3::X, Vec3::Y, Vec3::Z, Vec3::NEG_Y][rng.below(4)],
            };
            let turn = Quat::from_axis_angle(axis, core::f32::consts::PI + 2.0 * tiny);
            // Written with six decimals, and so not quite of length 1.
            let long = if kind == 1 {
                1.0 + rng.range(-1e-6, 1e-6)
            } else {
                1.0
            };
            [from * sign(rng) * long, from * turn * sign(rng)]
        }
    }
}

/// Keys at the times 0 and `end_s`, in a character of two joints whose second joint moves fast.
fn raw([from, to]: [Quat; 2], end_s: f32) -> RawCharacter {
    let mut raw = RawCharacter::from_skeleton(rig::chain(2).skeleton());
    let times_s: Vec<f32> = (0..=60).map(|key| key as f32 / 30.0).collect();
    let swing = times_s.iter().map(|time_s| {
        let turn = (9.0 * time_s).sin();
        Quat::from_rotation_x(turn)
    });
    let channel = |node, times_s, values| linear(node, times_s, RawKeys::Rotation(values));
    let swing = swing.collect();
    raw.animations = vec![RawAnimation {
        name: "turn".into(),
        channels: vec![
            channel(0, vec![0.0, end_s], vec![from, to]),
            channel(1, times_s, swing),
        ],
        events: Vec::new(),
    }];
    raw
}

fn sampled(clip: &CurveClip, time_s: f64) -> Quat {
    let mut local = [Transform::IDENTITY; 2];
    clip.sample(time_s, &mut local).unwrap();
    local[0].rotation
}

#[test]
fn curves_turn_the_way_of_the_formula() {
    let rng = &mut Rng::new(21);
    for round in 0..4_000 {
        let [from, to] = half_turn(rng);
        let keys = rig::keys(Interpolation::Linear, [0.0, 1.0], [from, to]);
        let clip = rig::clip(TrackValues::Rotation(keys));
        for part in PARTS {
            let off = apart(sampled(&clip, part), gltf(from, to, part));
            assert!(off < CURVE_RAD, "{round}: {from} to {to} at {part}: {off}");
        }
    }
}

/// A chain of half turns: negating one key must not change the direction of the next segment.
#[test]
fn consecutive_half_turns_each_follow_the_formula() {
    let rng = &mut Rng::new(23);
    for round in 0..500 {
        let mut all = vec![rng.rotation()];
        for _ in 0..6 {
            let from = all[all.len() - 1];
            let axis = [Vec3::X, Vec3::Y, Vec3::Z][rng.below(3)];
            let turn = Quat::from_axis_angle(axis, core::f32::consts::PI);
            all.push(from * turn * [1.0, -1.0][rng.below(2)]);
        }
        let times: Vec<f32> = (0..all.len()).map(|key| key as f32).collect();
        let clip = rig::clip(TrackValues::Rotation(rig::keys(
            Interpolation::Linear,
            &times,
            &all,
        )));
        for (key, pair) in all.windows(2).enumerate() {
            for part in PARTS {
                let off = apart(
                    sampled(&clip, key as f64 + part),
                    gltf(pair[0], pair[1], part),
                );
                assert!(off < CURVE_RAD, "{round}, key {key} at {part}: {off}");
            }
        }
    }
}

/// A turn of a second is sampled many times; a turn between neighbouring frames, only at its keys.
#[test]
fn import_and_packing_keep_the_direction() {
    let rng = &mut Rng::new(22);
    for round in 0..24 {
        let [from, to] = half_turn(rng);
        for end_s in [1.0_f32, 1.0 / 30.0, 0.004] {
            let made = raw([from, to], end_s);
            let options = ImportOptions {
                curves: true,
                ..ImportOptions::default()
            };
            let character = made.build(&options).unwrap().character;
            let saved = Character::from_bytes(&character.to_bytes(), &Default::default()).unwrap();
            let [curves, of_saved] = [&character, &saved].map(|one| &one.curves()[0]);
            let pack = |quantise| {
                let options = ClipOptions {
                    quantise,
                    ..ClipOptions::default()
                };
                Clip::new(&character, curves, &options).unwrap()
            };
            let reference = rng.rotation();
            let mut pose = character.skeleton().rest_pose();
            pose[0].rotation = reference;
            let clips = vec![
                rig::held(character.skeleton(), &pose),
                curves.clone().with_name("of"),
            ];
            let frame = PoseReference::Frame {
                clip: "held".into(),
                time_s: 0.0,
            };
            let additive = rig::additive(character.clone().with_clips(clips).unwrap(), frame);
            let additive = additive.unwrap().clips()[2].clone();
            let clips = [
                pack(true),
                pack(false),
                saved.clips()[0].clone(),
                character.clips()[0].clone(),
            ];
            for part in PARTS {
                let time_s = part * f64::from(end_s);
                let want = gltf(from, to, part);
                let joint = |clip: &Clip| clip.sample_joint(Id::new(0), time_s).rotation;
                let at = || format!("{round}: {from} to {to} in {end_s} s, at {part}");
                for curve in [curves, of_saved] {
                    assert!(apart(sampled(curve, time_s), want) < CURVE_RAD, "{}", at());
                }
                for clip in &clips {
                    let off = apart(joint(clip), want);
                    assert!(off < PACKED_RAD, "{}: {off}, {:?}", at(), clip.report());
                }
                let off = apart(reference * joint(&additive), want);
                assert!(off < PACKED_RAD, "{}, additive: {off}", at());
            }
        }
    }
}

#[test]
fn keys_are_aligned_but_not_turned() {
    let rng = &mut Rng::new(24);
    let keys: Vec<Quat> = (0..200).map(|_| rng.rotation()).collect();
    let times: Vec<f32> = (0..200).map(|key| key as f32).collect();
    let values = TrackValues::Rotation(rig::keys(Interpolation::Linear, &times, &keys));
    let clip = rig::clip(values);
    let [Track { values, .. }] = clip.tracks() else {
        panic!("one track");
    };
    let TrackValues::Rotation(got) = values else {
        panic!("a rotation");
    };
    for (got, want) in got.values.iter().zip(&keys) {
        assert!(got == want || *got == -*want);
    }
    assert!(
        got.values
            .windows(2)
            .all(|pair| pair[0].dot(pair[1]) >= -1e-7)
    );
}
