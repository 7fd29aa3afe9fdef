//! The error bound holds at every vertex and socket, and the report says where errors are largest.

use super::curves::{Local, exact, local, model, points, scale};
use crate::models::{Model, models};
use crate::reference::maths::{M4, distance, point};
use crate::reference::raws;
use crate::reference::raws::node;
use crate::reference::rig;
use crate::reference::rng::Rng;
use crate::reference::vertices::{Farthest, apart, farthest};
use throng::character::{AnimationDesc, Character, SocketDesc};
use throng::clip::WeightTrack;
use throng::clip::{Clip, ClipOptions, CurveClip, Interpolation, Track, TrackValues};
use throng::glam::{Quat, Vec3};
use throng::import::{ImportOptions, RawCharacter, RawPrimitive};
use throng::skeleton::Transform;
use throng::{Id, builtin};

/// The error bound in metres, for a character of 1.8 m.
const BOUND_M: f64 = 1e-4;
/// The rounding of `f32` in local poses, relative to the model's size: at most 0.02 of the bound.
const ROUNDING: f64 = 1e-6;

fn sampled(clip: &Clip, time_s: f64) -> Vec<Local> {
    let mut pose = vec![Transform::IDENTITY; clip.joints()];
    clip.sample(time_s, &mut pose).unwrap();
    pose.iter().map(local).collect()
}

fn allowed(character: &Character) -> f64 {
    scale(character) * (BOUND_M + 1.8 * ROUNDING)
}

/// The exact pose and that of the clip.
fn both(character: &Character, raw: &CurveClip, clip: &Clip, time_s: f64) -> [Vec<M4>; 2] {
    let want = model(character, &exact(character, raw, time_s));
    [want, model(character, &sampled(clip, time_s))]
}

/// Times that packing does not test, except by chance.
fn unseen(raw: &CurveClip, count: usize, rng: &mut Rng) -> Vec<f64> {
    let (start, end) = (f64::from(raw.start_s()), f64::from(raw.duration_s()));
    let part = |step: usize| (step as f64 + f64::from(rng.range(0.0, 1.0))) / count as f64;
    let times = (0..count).map(part);
    times.map(|part| start + (end - start) * part).collect()
}

#[test]
fn every_vertex_stays_in_the_bound() {
    let mut rng = Rng::new(31);
    let mut faults = Vec::new();
    for entry in models() {
        let Model {
            name, character, ..
        } = entry;
        let vertices: usize = character.vertex_count();
        // So that a large model does not take longer than all others.
        let count = (200_000 / vertices.max(1)).clamp(6, 48);
        let bound = BOUND_M * scale(character);
        let (mut worst, mut reported) = (Farthest::default(), 0.0_f64);
        for (raw, clip) in character.curves().iter().zip(entry.packed()) {
            let mut own = Farthest::default();
            for time_s in unseen(raw, count, &mut rng) {
                let [want, got] = both(character, raw, clip, time_s);
                let found = farthest(character, &want, &got);
                if found.off_m > own.off_m || found.off_m.is_nan() {
                    own = found;
                }
            }
            let report = clip.report();
            // Between the times that were tested, errors may be larger by a margin of the bound.
            let most = f64::from(report.error_m) + 0.1 * bound;
            if !(own.off_m <= allowed(character) && own.off_m <= most) {
                faults.push(format!(
                    "{name}, {}: {own:?} of {bound:.2e}, {report:?}",
                    raw.name()
                ));
            }
            if own.off_m > worst.off_m {
                worst = own;
            }
            reported = reported.max(report.error_m.into());
        }
        println!(
            "{name:22} {:.2} of the bound at vertices, reported {:.2}",
            worst.off_m / bound,
            reported / bound
        );
    }
    let count = faults.len();
    faults.truncate(12);
    assert!(faults.is_empty(), "{count}: {faults:#?}");
}

#[test]
fn the_report_names_the_vertex_and_the_time() {
    let mut seen = 0;
    for entry in models() {
        let character = &entry.character;
        for (raw, clip) in character.curves().iter().zip(entry.packed()) {
            let report = clip.report();
            let Some(at) = report
                .vertex_error
                .filter(|_| raw.weight_tracks().is_empty())
            else {
                continue;
            };
            assert!(at.error_m <= report.error_m);
            let [want, got] = both(character, raw, clip, at.time_s);
            let place = (at.primitive as usize, at.vertex as usize);
            let off = apart(character, place, &want, &got);
            // The error was measured in `f32`, on poses in `f32`.
            let rounding = 2.0 * ROUNDING * 1.8 * scale(character);
            let reported = f64::from(at.error_m);
            assert!(
                (off - reported).abs() <= rounding,
                "{}, {}: {off:.2e}, {report:?}",
                entry.name,
                raw.name()
            );
            let worst = farthest(character, &want, &got);
            assert!(
                worst.off_m <= reported + rounding,
                "{}: {worst:?}",
                entry.name
            );
            seen += 1;
        }
    }
    assert!(seen > 10, "{seen} clips");
}

/// A mean of two clips is within the bound, too.
#[test]
fn blends_stay_in_the_bound() {
    let mut rng = Rng::new(32);
    for entry in models() {
        let Model {
            name, character, ..
        } = entry;
        let curves = character.curves();
        if curves.len() < 2 || name.starts_with("random") {
            continue;
        }
        let rest = character.skeleton().rest_pose();
        let (mut worst, bound) = (0.0_f64, allowed(character));
        for _ in 0..24 {
            let [a, b] = [0; 2].map(|_| rng.below(curves.len()));
            let weight = rng.range(0.0, 1.0);
            let times = [a, b].map(|clip| unseen(&curves[clip], 1, &mut rng)[0]);
            let mixed = |packed: bool| {
                let mut poses = [rest.clone(), rest.clone()];
                for ((pose, clip), time_s) in poses.iter_mut().zip([a, b]).zip(times) {
                    if packed {
                        entry.packed()[clip].sample(time_s, pose).unwrap();
                    } else {
                        curves[clip].sample(time_s, pose).unwrap();
                    }
                }
                let mut out = rest.clone();
                let [first, second] = &poses;
                for (out, (a, b)) in out.iter_mut().zip(first.iter().zip(second)) {
                    out.translation = a.translation.lerp(b.translation, weight);
                    out.rotation = a.rotation.lerp(b.rotation, weight);
                    out.scale = a.scale.lerp(b.scale, weight);
                }
                let pose: Vec<_> = out.iter().map(local).collect();
                model(character, &pose)
            };
            let off = farthest(character, &mixed(false), &mixed(true)).off_m;
            worst = worst.max(off / bound);
        }
        println!("{name:22} {worst:.2} of the bound in blends");
        assert!(worst <= 1.0, "{name}: {worst}");
    }
}

fn swing(joint: usize, seed: u64) -> Track {
    let mut rng = Rng::new(seed);
    let times: Vec<f32> = (0..=60).map(|key| key as f32 / 30.0).collect();
    let (axis, speed) = (rng.direction(), rng.range(3.0, 6.0));
    let turns = times
        .iter()
        .map(|time_s| Quat::from_axis_angle(axis, 0.8 * (speed * time_s).sin()));
    let turns: Vec<Quat> = turns.collect();
    raws::track(
        joint as u16,
        TrackValues::Rotation(rig::keys(Interpolation::Linear, &times, &turns)),
    )
}

/// A mesh on a node, 40 times as far from it as the points near a joint.
fn cube(far_m: f32, weights: usize) -> Character {
    let corners = (0..8).map(|corner| {
        let sign = |bit: usize| if corner & bit == 0 { -0.5 } else { 0.5 };
        Vec3::new(far_m + sign(1), sign(2), sign(4))
    });
    let target = raws::moves(vec![Vec3::X * 2.0], vec![7]);
    let raw = RawCharacter {
        nodes: vec![node("node", None, Transform::IDENTITY)],
        primitives: vec![RawPrimitive {
            positions: corners.collect(),
            indices: vec![0, 1, 2, 3, 4, 5, 6, 7, 0],
            morph: (weights > 0).then_some(0),
            targets: vec![target; weights],
            ..RawPrimitive::default()
        }],
        morphs: vec![raws::morph(0, "", vec![0.0; weights])],
        ..RawCharacter::default()
    };
    raw.build(&ImportOptions::curves_only()).unwrap().character
}

#[test]
fn a_mesh_far_from_its_node_stays_in_the_bound() {
    for far_m in [0.0, 1.0, 30.0] {
        let character = cube(far_m, 0);
        for seed in 0..4 {
            let raw = CurveClip::new("turn", vec![swing(0, seed)], character.skeleton()).unwrap();
            let clip = Clip::new(&character, &raw, &ClipOptions::default()).unwrap();
            let mut rng = Rng::new(seed);
            for time_s in unseen(&raw, 60, &mut rng) {
                let [want, got] = both(&character, &raw, &clip, time_s);
                let off = farthest(&character, &want, &got);
                // The rounding of rotations grows with the distance.
                let rounding = 4e-7 * f64::from(far_m);
                let allowed = allowed(&character) + rounding;
                assert!(
                    off.off_m <= allowed,
                    "{far_m}: {off:?}, {:?}",
                    clip.report()
                );
            }
            let error = clip.report().vertex_error.unwrap();
            assert!(error.error_m > 0.0 && error.primitive == 0 && error.vertex < 8);
        }
    }
}

/// Joints that move only skin nearby need no more bits than without skin.
#[test]
fn skin_near_the_joints_costs_nothing() {
    let joints = 6;
    let bytes = |near_m: f32| {
        let (nodes, skin) = rig::joints(joints);
        let raw = RawCharacter {
            nodes,
            skins: vec![skin],
            primitives: vec![RawPrimitive {
                skin: Some(0),
                positions: (0..joints)
                    .flat_map(|at| {
                        let joint = Vec3::Y * at as f32;
                        // The first and the last are at the joint, so all sizes are equal.
                        let near = if at % (joints - 1) == 0 { 0.0 } else { near_m };
                        [joint, joint + Vec3::X * near_m, joint + Vec3::Y * near]
                    })
                    .collect(),
                influences_per_vertex: 1,
                joints: (0..joints as u32).flat_map(|joint| [joint; 3]).collect(),
                weights: vec![1.0; joints * 3],
                indices: (0..joints as u32 * 3).collect(),
                ..RawPrimitive::default()
            }],
            ..RawCharacter::default()
        };
        let character = raw.build(&ImportOptions::curves_only()).unwrap().character;
        let tracks = (0..joints)
            .map(|joint| swing(joint, joint as u64))
            .collect();
        let raw = CurveClip::new("swing", tracks, character.skeleton()).unwrap();
        let clip = Clip::new(&character, &raw, &ClipOptions::default()).unwrap();
        clip.report().bytes
    };
    // 3 cm in a human of 1.8 m are 8 cm here.
    assert_eq!(bytes(0.05), bytes(0.0));
    let far = bytes(0.9);
    assert!(far > bytes(0.0), "{far}");
}

/// The tip of a sword is a socket, and so it follows the curves, too.
#[test]
fn sockets_stay_in_the_bound() {
    let tip = [0.0, 1.4, 0.0];
    let desc = AnimationDesc {
        sockets: vec![SocketDesc {
            translation: tip,
            ..SocketDesc::new("tip", "RightHand")
        }],
        ..AnimationDesc::default()
    };
    let options = ImportOptions {
        animation: Some(desc),
        curves: true,
        ..ImportOptions::default()
    };
    let character = RawCharacter::mannequin().build(&options).unwrap().character;
    let plain = builtin::mannequin().unwrap().character;
    let hand = usize::from(character.skeleton().joint("RightHand").unwrap());
    let tip = tip.map(f64::from);
    // The points around the joint are at its axes, too, so the distances are equal.
    let around = points(&character)[hand].map(|near| [0, 1, 2].map(|axis| tip[axis] + near[axis]));
    let places = [&[tip][..], &around].concat();
    let mut rng = Rng::new(33);
    let (bound, mut without) = (allowed(&character), 0.0_f64);
    for (number, raw) in character.curves().iter().enumerate() {
        for time_s in unseen(raw, 60, &mut rng) {
            let off = |clip: &Clip| {
                let poses = both(&character, raw, clip, time_s);
                let off = |place: &[f64; 3]| {
                    let [a, b] = [&poses[0], &poses[1]].map(|pose| point(&pose[hand], *place));
                    distance(a, b)
                };
                places.iter().map(off).fold(0.0, f64::max)
            };
            let off_m = off(&character.clips()[number]);
            assert!(off_m <= bound, "{} at {time_s}: {off_m:.2e}", raw.name());
            if let Some(clip) = plain.clips().get(number) {
                without = without.max(off(clip));
            }
        }
    }
    // Otherwise the test would show nothing.
    assert!(without > bound, "{without:.2e}");
}

/// Errors of joints and of morph weights add up to no more than the bound.
#[test]
fn joints_and_morph_weights_share_the_bound() {
    let character = cube(0.0, 3);
    let times: Vec<f32> = (0..=40).map(|key| key as f32 / 20.0).collect();
    let values = times
        .iter()
        .flat_map(|time_s| [1.0_f32, 2.3, 3.7].map(|speed| 0.5 + 0.5 * (speed * time_s).sin()));
    let weights = WeightTrack {
        first_weight: Id::new(0),
        count: 3,
        keys: rig::keys(
            Interpolation::Linear,
            times.clone(),
            values.collect::<Vec<_>>(),
        ),
    };
    let raw = CurveClip::new("both", vec![swing(0, 3)], character.skeleton()).unwrap();
    let raw = raw.with_weight_tracks(vec![weights], 3).unwrap();
    let clip = Clip::new(&character, &raw, &ClipOptions::default()).unwrap();
    let report = clip.report();
    let bound = allowed(&character);
    assert!(
        report.weight_error > 0.0 && f64::from(report.error_m) <= bound,
        "{report:?}"
    );
    let mut rng = Rng::new(34);
    for time_s in unseen(&raw, 200, &mut rng) {
        let poses = both(&character, &raw, &clip, time_s);
        let (mut exact, mut packed) = ([0.0_f32; 3], [0.0_f32; 3]);
        raw.sample_weights(time_s, |id, weight| exact[id.index()] = weight);
        clip.sample_weights(time_s, |id, weight| packed[id.index()] = weight);
        let corner = character.primitives()[0].positions[7]
            .to_array()
            .map(f64::from);
        let moved = |weights: [f32; 3]| {
            let all: f64 = weights.iter().map(|weight| 2.0 * f64::from(*weight)).sum();
            [corner[0] + all, corner[1], corner[2]]
        };
        let off = distance(
            point(&poses[0][0], moved(exact)),
            point(&poses[1][0], moved(packed)),
        );
        assert!(
            off <= bound,
            "{time_s}: {off:.2e} of {bound:.2e}, {report:?}"
        );
        // Between the times that were tested, errors may be larger by a margin of the bound.
        assert!(
            off <= f64::from(report.error_m) + 0.1 * bound,
            "{off:.2e}, {report:?}"
        );
    }
}
