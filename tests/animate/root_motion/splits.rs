//! Splitting clips: the remaining motion times the extracted one is the original.

use super::made::{self, CURVES, Poses, axes, extract, matrix};
use crate::models::{Model, models};
use crate::reference::maths::{M4, distance, length, mul};
use crate::reference::raws;
use crate::reference::rng::Rng;
use crate::reference::{random, rig};
use core::f64::consts::{PI, TAU};
use throng::Id;
use throng::character::{AnimationDesc, Character, ClipDesc, PoseReference, RootMotionDesc};
use throng::clip::{CurveClip, Interpolation, TrackValues};
use throng::glam::{Quat, Vec3};
use throng::motion::RootMotion;

/// The rounding error of a pose in single precision, relative to the largest coordinate that takes
/// part.
///
/// It is about ten roundings of 6e-8 in keys and interpolation of either clip. If keys are
/// rewritten, at most 0.04 of this was measured.
const ROUNDING: f64 = 1e-6;

fn position(m: &M4) -> [f64; 3] {
    [m[0][3], m[1][3], m[2][3]]
}

/// The twist about +Y of the rotation between two matrices of rotation and even scale, from their
/// product alone: `2 atan2(m02 − m20, 1 + trace)`.
fn heading(now: &M4, then: &M4) -> f64 {
    let axis = |m: &M4, c: usize| {
        let v = [m[0][c], m[1][c], m[2][c]];
        v.map(|x| x / length(v))
    };
    let entry = |row: usize, column: usize| -> f64 {
        (0..3)
            .map(|c| axis(now, c)[row] * axis(then, c)[column])
            .sum()
    };
    let trace = entry(0, 0) + entry(1, 1) + entry(2, 2);
    2.0 * (entry(0, 2) - entry(2, 0)).atan2(1.0 + trace)
}

/// Returns whether a joint is `root` or below it.
fn below(character: &Character, joint: usize, root: u16) -> bool {
    let mut at = Some(Id::new(joint as u16));
    while let Some(joint) = at.filter(|joint| joint.0 != root) {
        at = character.skeleton().joints()[joint.index()].parent;
    }
    at.is_some()
}

/// Checks a split clip. Returns the largest error over many times as a part of the bound.
///
/// `exact` leaves only rounding.
fn check(
    character: &Character,
    clip: &CurveClip,
    (stays, motion): (&CurveClip, &RootMotion),
    exact: bool,
    rng: &mut Rng,
) -> f64 {
    assert_eq!(stays.duration_s(), clip.duration_s());
    assert_eq!(stays.name(), clip.name());
    assert_eq!(stays.weight_tracks(), clip.weight_tracks());
    let (was, is) = (Poses::new(character, clip), Poses::new(character, stays));
    let Some(root) = motion.joint().filter(|_| !motion.is_still()) else {
        assert_eq!(stays, clip);
        return 0.0;
    };
    let size = f64::from(character.rest_bounds().size().max_element());
    let end = f64::from(clip.duration_s());
    let mut worst: f64 = 0.0;
    for at in 0..60 {
        let time = match at {
            0 => 0.0,
            1 => end,
            _ => f64::from(rng.range(0.0, 1.0)) * end,
        };
        let taken = motion.at(time);
        let (was, is) = (was.at(time), is.at(time));
        let reach = was.iter().map(|m| length(position(m))).fold(size, f64::max);
        let wide = reach + taken.translation.length();
        // The default bound, and the precision of `f32`.
        let bound = if exact {
            0.0
        } else {
            (1e-4 * size / 1.8).max(2e-6 * wide)
        };
        let anchor = position(&was[usize::from(root)]);
        for joint in (0..was.len()).filter(|joint| below(character, *joint, root.0)) {
            let again = mul(&matrix(&taken), &is[joint]);
            let far = distance(position(&was[joint]), anchor).max(size);
            let allowed = bound * far / size + ROUNDING * wide;
            worst = worst.max(distance(position(&again), position(&was[joint])) / allowed);
            // The axes too, as points at the model's size.
            for row in 0..3 {
                for column in 0..3 {
                    let off = (again[row][column] - was[joint][row][column]).abs();
                    let scale = (0..3)
                        .map(|r| was[joint][r][column].powi(2))
                        .sum::<f64>()
                        .sqrt();
                    worst = worst.max(off * size / allowed.max(1e-30) / scale.max(1.0));
                }
            }
        }
    }
    worst
}

#[test]
fn rewritten_keys_are_exact_in_every_interpolation() {
    let mut rng = Rng::new(1);
    let mut most: f64 = 0.0;
    for round in 0..300 {
        let character = rig::unpacked_chain(4);
        let curve = CURVES[round % 3];
        let joint = rng.below(3) as u16;
        let mut tracks = vec![raws::track(joint, made::translation(&mut rng, curve, 1.3))];
        // Ancestors are turned and unevenly scaled. Everything is still affine.
        for above in 0..joint {
            tracks.push(raws::track(
                above,
                TrackValues::Rotation(rig::keys(curve_of_one(), [0.2], [rng.rotation()])),
            ));
            let scale = rng.vector(0.5, 2.0);
            tracks.push(raws::track(
                above,
                TrackValues::Scale(rig::keys(curve_of_one(), [0.2], [scale])),
            ));
        }
        let clip = CurveClip::new("clip", tracks, character.skeleton()).unwrap();
        let desc = RootMotionDesc {
            axes: axes([rng.chance(2), rng.chance(2), true]),
            reference: [PoseReference::Start, PoseReference::Rest][rng.below(2)].clone(),
            yaw: false,
            ..RootMotionDesc::default()
        };
        let (stays, motion) = extract(&character, &clip, &desc).unwrap();
        let worst = check(&character, &clip, (&stays, &motion), true, &mut rng);
        assert!(worst < 1.0, "round {round}: {worst}");
        most = most.max(worst);
    }
    println!("worst {most}");
}

fn curve_of_one() -> Interpolation {
    Interpolation::Linear
}

#[test]
fn resampled_keys_stay_within_the_bound() {
    let mut rng = Rng::new(2);
    let mut worst = 0.0_f64;
    for round in 0..150 {
        let character = rig::unpacked_chain(5);
        let end_s = rng.range(0.5, 4.0);
        let joint = rng.below(4) as u16;
        let mut tracks = Vec::new();
        for above in 0..=joint {
            // Now and then all of a clip steps.
            let mut curve = || {
                if round % 7 == 0 {
                    Interpolation::Step
                } else {
                    CURVES[rng.below(3)]
                }
            };
            let curves = [curve(), curve(), curve()];
            let mut add = |values| tracks.push(raws::track(above, values));
            add(made::rotation(&mut rng, curves[0], end_s));
            if above == joint || rng.chance(2) {
                add(made::translation(&mut rng, curves[1], end_s));
            }
            if rng.chance(3) {
                add(made::even_scale(&mut rng, curves[2], end_s));
            }
        }
        let clip = CurveClip::new("clip", tracks, character.skeleton()).unwrap();
        let desc = RootMotionDesc {
            joint: Some(made::joint(joint.into())),
            axes: axes([true, rng.chance(2), true]),
            yaw: !rng.chance(4),
            reference: [PoseReference::Start, PoseReference::Rest][rng.below(2)].clone(),
            error_m: None,
        };
        let (stays, motion) = extract(&character, &clip, &desc).unwrap();
        let off = check(&character, &clip, (&stays, &motion), false, &mut rng);
        assert!(off < 1.0, "round {round}: {off}");
        worst = worst.max(off);
    }
    println!("worst {worst}");
}

#[test]
fn what_stays_has_no_heading_and_stays_in_place() {
    let mut rng = Rng::new(3);
    for _ in 0..40 {
        let character = rig::unpacked_chain(3);
        let tracks = vec![
            raws::track(0, made::rotation(&mut rng, Interpolation::Linear, 2.0)),
            raws::track(1, made::translation(&mut rng, Interpolation::Linear, 2.0)),
            raws::track(1, made::rotation(&mut rng, Interpolation::Linear, 2.0)),
        ];
        let clip = CurveClip::new("clip", tracks, character.skeleton()).unwrap();
        let frame = PoseReference::Frame {
            clip: "clip".into(),
            time_s: 1.3,
        };
        for reference in [PoseReference::Start, PoseReference::Rest, frame] {
            let desc = RootMotionDesc {
                joint: Some(made::joint(1)),
                reference: reference.clone(),
                ..RootMotionDesc::default()
            };
            let (stays, motion) = extract(&character, &clip, &desc).unwrap();
            let poses = Poses::new(&character, &stays);
            let was = Poses::new(&character, &clip);
            let from = match reference {
                PoseReference::Start => was.at(0.0)[1],
                PoseReference::Rest => was.rest()[1],
                PoseReference::Frame { time_s, .. } => was.at(time_s)[1],
            };
            let mut last = motion.at(0.0).yaw_rad;
            for at in 0..=400 {
                let time = 2.0 * f64::from(at) / 400.0;
                let now = poses.at(time)[1];
                // The bound at the model's size of 2 m: as an angle, and in metres.
                let error_m = 1e-4 * 2.0 / 1.8 + 4e-6;
                let angle = heading(&now, &from).abs();
                assert!(angle < error_m / 2.0, "{angle} {error_m}");
                // A wrong angle moves the joint in proportion to its distance from the vertical
                // axis, and the motion moves it back. At most 2.8 times `error_m` was measured, at
                // a distance of 2.5 m.
                let off_m = match reference {
                    PoseReference::Start | PoseReference::Rest => error_m,
                    PoseReference::Frame { .. } => error_m * (1.0 + from[0][3].hypot(from[2][3])),
                };
                for axis in [0, 2] {
                    let off = (now[axis][3] - from[axis][3]).abs();
                    assert!(off < off_m, "{off} {off_m}");
                }
                // The yaw is the heading of the clip as it was, and never jumps by a turn.
                let yaw = motion.at(time).yaw_rad;
                let turns = (yaw - heading(&was.at(time)[1], &from)) / TAU;
                assert!((turns - turns.round()).abs() < error_m / TAU, "{turns}");
                assert!((yaw - last).abs() < 1.0, "{last} {yaw}");
                last = yaw;
            }
        }
    }
}

#[test]
fn whole_turns_are_counted() {
    let character = rig::unpacked_chain(2);
    for (turns, per_key) in [(3.5, 120.0), (-7.0, 150.0), (0.75, 45.0), (12.0, 179.0)] {
        let whole = TAU * turns;
        let keys = (whole.abs() / (PI * per_key / 180.0)).ceil() as usize;
        let tilt = Quat::from_rotation_x(-0.5) * Quat::from_rotation_z(0.3);
        let values: Vec<Quat> = (0..=keys)
            .map(|key| {
                let yaw = whole * key as f64 / keys as f64;
                Quat::from_rotation_y((yaw % TAU) as f32) * tilt
            })
            .collect();
        let times: Vec<f32> = (0..=keys).map(|key| key as f32 / keys as f32).collect();
        let track = |values| raws::track(0, values);
        let turning = TrackValues::Rotation(rig::keys(Interpolation::Linear, &times, &values));
        let clip = CurveClip::new("turn", vec![track(turning)], character.skeleton()).unwrap();
        let (_, motion) = extract(&character, &clip, &RootMotionDesc::default()).unwrap();
        // The keys are `f32`s, and this is their angle.
        assert!(
            (motion.pass().yaw_rad - whole).abs() < 2e-6,
            "{turns} {:?}",
            motion.pass()
        );
        let half = motion.at(0.5).yaw_rad;
        assert!((half - 0.5 * whole).abs() < 2e-5, "{turns} {half}");
    }
}

#[test]
fn the_topmost_joint_that_moves_is_found() {
    let character = rig::unpacked_chain(4);
    let held = rig::keys(Interpolation::Linear, [0.0, 1.0], vec![Vec3::Y; 2]);
    let mut grows = held.clone();
    grows.values = vec![Vec3::ONE, Vec3::splat(2.0)];
    let mut goes = held.clone();
    goes.values[1] = Vec3::ONE;
    let track = |joint, values| raws::track(joint, values);
    let tracks = vec![
        track(Id::new(0), TrackValues::Translation(held.clone())),
        track(Id::new(1), TrackValues::Scale(grows)),
        track(Id::new(2), TrackValues::Translation(goes)),
    ];
    let clip = CurveClip::new("clip", tracks.clone(), character.skeleton()).unwrap();
    let desc = RootMotionDesc::default();
    let (_, motion) = extract(&character, &clip, &desc).unwrap();
    assert_eq!(motion.joint(), Some(Id::new(2)));
    // Nothing moves: nothing changes.
    let clip = CurveClip::new("clip", tracks[..2].to_vec(), character.skeleton()).unwrap();
    let (stays, motion) = extract(&character, &clip, &desc).unwrap();
    assert!(motion.is_still() && motion.joint().is_none());
    assert_eq!(stays, clip);
}

#[test]
fn every_model_can_be_split() {
    let random: Vec<Model> = (0..40)
        .map(|seed| Model::raw(format!("random {seed}"), random::morphing(seed)))
        .collect();
    let files = models()
        .iter()
        .filter(|model| !model.name.starts_with("random"));
    let mut rng = Rng::new(4);
    let (mut split, mut refused, mut beyond) = (0, 0, 0);
    for model in files.chain(&random) {
        let Model {
            name, character, ..
        } = model;
        // Names of clips in files may be empty or equal.
        let own = character.curves();
        let copies = own.iter().enumerate();
        let copies = copies.map(|(index, clip)| clip.clone().with_name(&format!("copy {index}")));
        let character = character.clone().with_clips(copies.collect()).unwrap();
        let copies = &character.curves()[own.len()..];
        for yaw in [true, false] {
            let desc = |clip: &CurveClip| ClipDesc {
                name: clip.name().into(),
                root_motion: Some(RootMotionDesc {
                    yaw,
                    ..RootMotionDesc::default()
                }),
                ..ClipDesc::default()
            };
            // Random characters scale unevenly and to zero, so each of their clips is on its own.
            let clips: Vec<_> = copies.iter().map(desc).collect();
            let is_random = name.starts_with("random");
            let sets = clips.chunks(if is_random { 1 } else { clips.len().max(1) });
            for clips in sets {
                let desc = AnimationDesc {
                    clips: clips.to_vec(),
                    ..AnimationDesc::default()
                };
                let whole = match character.clone().with_animation(&desc) {
                    Ok(whole) => whole,
                    Err(error) => {
                        refused += 1;
                        assert!(is_random, "{name}: {error}");
                        continue;
                    }
                };
                for (index, clip) in (own.len()..).zip(copies) {
                    let Some(motion) = whole.root_motion(Id::new(index as u16)) else {
                        continue;
                    };
                    split += 1;
                    let stays = &whole.curves()[index];
                    let worst = check(&character, clip, (stays, motion), false, &mut rng);
                    // Random keys may need more new keys than there can be between two of them.
                    beyond += usize::from(is_random && worst >= 1.0);
                    assert!(is_random || worst < 1.0, "{name} {}: {worst}", clip.name());
                }
            }
        }
    }
    println!("{split} split, {refused} refused, {beyond} beyond the bound");
    assert!(10 * beyond < split, "{beyond} of {split}");
    assert!(split > refused, "{split} {refused}");
}
