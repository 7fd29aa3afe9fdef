//! Clips: keys where they have to be, steps, ends, and real models.

use super::rigs::{difference, model, rest};
use crate::reference;
use crate::reference::maths::{angle, sub};
use crate::reference::rng::Rng;
use throng::Id;
use throng::character::Character;
use throng::clip::{CurveClip, Interpolation, Keys, Track, TrackValues};
use throng::glam::{Quat, Vec3};
use throng::import::{ImportOptions, RawCharacter};
use throng::retarget::{JointMap, Retarget, RetargetOptions, Role};
use throng::skeleton::{Skeleton, Transform};

fn posed(skeleton: &Skeleton, clip: &CurveClip, time_s: f64) -> Vec<Transform> {
    let mut local = rest(skeleton);
    clip.sample(time_s, &mut local).unwrap();
    local
}

fn size(character: &Character) -> f64 {
    f64::from(character.rest_bounds().size().max_element())
}

fn models() -> Vec<Character> {
    let files = reference::assets::files().into_iter();
    let load = |path| throng_import::file(path, &ImportOptions::curves_only()).ok();
    let mut all: Vec<Character> = files.filter_map(load).map(|i| i.character).collect();
    all.push(
        RawCharacter::mannequin()
            .build(&ImportOptions::curves_only())
            .unwrap()
            .character,
    );
    all
}

/// Every model's clips onto itself.
#[test]
fn models_follow_themselves() {
    let mut seen = 0;
    for character in models() {
        let skeleton = character.skeleton();
        let Ok(map) = JointMap::by_names(skeleton, skeleton) else {
            continue;
        };
        if map.links().len() < skeleton.len() {
            continue;
        }
        let options = RetargetOptions {
            all_translations: true,
            ..RetargetOptions::default()
        };
        let mut retarget = Retarget::new(skeleton, skeleton, &map, &options).unwrap();
        for clip in character
            .curves()
            .iter()
            .take(6)
            .filter(|clip| !clip.tracks().is_empty())
        {
            let (same, report) = retarget.clip(clip).unwrap();
            let name = format!("{} \"{}\"", character.name(), clip.name());
            assert_eq!(
                (same.start_s(), same.duration_s()),
                (clip.start_s(), clip.duration_s()),
                "{name}"
            );
            assert_eq!(
                (report.unused_tracks, report.unused_translations),
                (0, 0),
                "{name}"
            );
            let (mut on_keys, mut between) = (0.0_f64, 0.0_f64);
            let times: Vec<f32> = clip.tracks()[0].values.times_s().to_vec();
            for pair in times.windows(2).take(40) {
                for (part, worst) in [(0.0, &mut on_keys), (0.37, &mut between)] {
                    let time_s = f64::from(pair[0]) * (1.0 - part) + f64::from(pair[1]) * part;
                    let [a, b] =
                        [clip, &same].map(|c| model(skeleton, &posed(skeleton, c, time_s)));
                    *worst = worst.max(difference(&a, &b, 0.1 * size(&character)));
                }
            }
            let allowed = report.allowed_m.max(report.max_error_m);
            println!("{name}: {on_keys:.1e} m on keys, {between:.1e} m between, {report:?}");
            assert!(
                on_keys < 4e-6 * size(&character).max(1.0),
                "{name}: {on_keys}"
            );
            // The error is measured at three of four places between keys, so it may be slightly
            // larger at others. Its scales are relative to the joint's own scale, here to 1. No
            // model has a joint of a scale above 2.
            assert!(
                between < 2.5 * allowed + 4e-6 * size(&character),
                "{name}: {between}"
            );
            seen += 1;
        }
    }
    assert!(seen > 0);
}

/// Clips of each model on the others, where they are humanoids: limbs point the same way, and the
/// found turn and ratio hold.
#[test]
fn models_follow_each_other() {
    let all = models();
    let left = [
        (Role::LeftUpperArm, Role::LeftLowerArm),
        (Role::LeftUpperLeg, Role::LeftLowerLeg),
        (Role::LeftLowerLeg, Role::LeftFoot),
    ];
    let right = [
        (Role::RightUpperArm, Role::RightLowerArm),
        (Role::RightUpperLeg, Role::RightLowerLeg),
        (Role::RightLowerLeg, Role::RightFoot),
    ];
    let mut seen = 0;
    for from in &all {
        let source = from.skeleton().humanoid();
        for to in &all {
            let target = to.skeleton().humanoid();
            let both = |role| source.get(&role).zip(target.get(&role));
            let Some(clip) = from.curves().iter().find(|clip| !clip.tracks().is_empty()) else {
                continue;
            };
            if both(Role::LeftLowerLeg).is_none() || both(Role::Hips).is_none() {
                continue;
            }
            let map = JointMap::humanoid(from.skeleton(), to.skeleton()).unwrap();
            let options = RetargetOptions::default();
            let mut retarget =
                Retarget::new(from.skeleton(), to.skeleton(), &map, &options).unwrap();
            let (clip_there, report) = retarget.clip(clip).unwrap();
            let turn = retarget.fit().turn.to_array().map(f64::from);
            let mut worst = 0.0_f64;
            for time_s in clip.tracks()[0].values.times_s().iter().take(20) {
                let a = model(
                    from.skeleton(),
                    &posed(from.skeleton(), clip, (*time_s).into()),
                );
                let b = model(
                    to.skeleton(),
                    &posed(to.skeleton(), &clip_there, (*time_s).into()),
                );
                let place = |model: &[_], joint: u16| {
                    let m: &reference::maths::M4 = &model[usize::from(joint)];
                    [m[0][3], m[1][3], m[2][3]]
                };
                for (start, end) in left.into_iter().chain(right) {
                    let (Some(start), Some(end)) = (both(start), both(end)) else {
                        continue;
                    };
                    let theirs = sub(place(&a, end.0.0), place(&a, start.0.0));
                    let ours = sub(place(&b, end.1.0), place(&b, start.1.0));
                    worst = worst.max(angle(ours, super::rigs::rotate(turn, theirs)));
                }
            }
            let pair = format!("{} on {}", from.name(), to.name());
            println!(
                "{pair}: {} joints, ratio {:.3}, limbs off by {worst:.1e}, {report:?}",
                map.links().len(),
                retarget.fit().ratio
            );
            // 32-bit rotations, and places up to 160 units from the origin: measured 1.7e-6.
            assert!(worst < 1e-5, "{pair}: {worst}");
            seen += 1;
        }
    }
    assert!(seen > 0);
}

fn mannequin() -> Character {
    RawCharacter::mannequin()
        .build(&ImportOptions::curves_only())
        .unwrap()
        .character
}

fn turns(joint: u16, interpolation: Interpolation, keys: &[(f32, f32)]) -> Track {
    let turn = |(_, angle): &(f32, f32)| Quat::from_rotation_x(*angle);
    Track {
        joint: Id::new(joint),
        values: TrackValues::Rotation(Keys {
            times_s: keys.iter().map(|key| key.0).collect(),
            values: keys.iter().map(turn).collect(),
            interpolation,
        }),
    }
}

#[test]
fn steps_stay_steps_and_jumps_stay_sharp() {
    let character = mannequin();
    let skeleton = character.skeleton();
    let (hips, arm) = (
        skeleton.joint("Hips").unwrap().0,
        skeleton.joint("LeftUpperArm").unwrap().0,
    );
    let stepped = turns(
        arm,
        Interpolation::Step,
        &[(0.0, 0.1), (0.5, 0.9), (1.0, 0.3)],
    );
    let map = JointMap::by_names(skeleton, skeleton).unwrap();
    let mut retarget =
        Retarget::new(skeleton, skeleton, &map, &RetargetOptions::default()).unwrap();

    let clip = CurveClip::new("steps", vec![stepped.clone()], skeleton).unwrap();
    let (same, report) = retarget.clip(&clip).unwrap();
    let track = same
        .tracks()
        .iter()
        .find(|t| t.joint == Id::new(arm) && matches!(t.values, TrackValues::Rotation(_)));
    match &track.unwrap().values {
        TrackValues::Rotation(keys) => {
            assert_eq!(keys.interpolation, Interpolation::Step);
            assert_eq!(keys.times_s, [0.0, 0.5, 1.0]);
        }
        _ => unreachable!(),
    }
    assert_eq!((report.times, report.max_error_m), (3, 0.0));

    // The hips move smoothly: the jump is one from a number to the next.
    let smooth = turns(hips, Interpolation::Linear, &[(0.0, 0.0), (1.0, 0.5)]);
    let clip = CurveClip::new("both", vec![stepped, smooth], skeleton).unwrap();
    let (same, _) = retarget.clip(&clip).unwrap();
    for time_s in [0.0, 0.3, 0.4999, 0.5, 0.5001, 0.75, 0.9999, 1.0] {
        let [a, b] = [&clip, &same].map(|c| model(skeleton, &posed(skeleton, c, time_s)));
        let off = difference(&a, &b, 0.1);
        assert!(off < 2e-3, "{time_s}: {off}");
    }
}

#[test]
fn loops_stay_closed_and_empty_stretches_stay() {
    let character = mannequin();
    let skeleton = character.skeleton();
    let map = JointMap::by_names(skeleton, skeleton).unwrap();
    let mut retarget =
        Retarget::new(skeleton, skeleton, &map, &RetargetOptions::default()).unwrap();
    let arm = skeleton.joint("LeftUpperArm").unwrap().0;
    let wave = turns(
        arm,
        Interpolation::Linear,
        &[(0.25, 0.4), (0.5, 2.4), (0.75, 4.4), (1.5, 0.4)],
    );
    let clip = CurveClip::new("wave", vec![wave], skeleton).unwrap();
    let (same, _) = retarget.clip(&clip).unwrap();
    let [a, b] = [0.25, 1.5].map(|t| posed(skeleton, &same, t));
    for (a, b) in a.iter().zip(&b) {
        assert!(a.rotation == b.rotation || a.rotation == -b.rotation);
        assert_eq!((a.translation, a.scale), (b.translation, b.scale));
    }
    // Nothing moves: one key a track, but the clip is as long as before.
    let still = turns(arm, Interpolation::Linear, &[(0.5, 0.4), (2.0, 0.4)]);
    let clip = CurveClip::new("still", vec![still], skeleton).unwrap();
    let (same, _) = retarget.clip(&clip).unwrap();
    assert_eq!((same.start_s(), same.duration_s()), (0.5, 2.0));
    assert!(same.tracks().iter().all(|t| t.values.times_s().len() <= 2));
    // No tracks at all.
    let clip = CurveClip::new("none", Vec::new(), skeleton).unwrap();
    let (same, report) = retarget.clip(&clip).unwrap();
    assert!(same.tracks().is_empty() && report.times == 0);
}

/// Splines and long ways: keys are added until the poses between are near enough.
#[test]
fn keys_are_added_where_the_way_bends() {
    let rng = &mut Rng::new(18);
    let character = mannequin();
    let skeleton = character.skeleton();
    let hips = skeleton.joint("Hips").unwrap().0;
    let map = JointMap::by_names(skeleton, skeleton).unwrap();
    let rest_at = skeleton.joints()[usize::from(hips)].rest.translation;
    let values = (0..12).map(|at| {
        if at % 3 == 1 {
            rest_at + rng.vector(-0.2, 0.2)
        } else {
            rng.vector(-3.0, 3.0)
        }
    });
    let track = Track {
        joint: Id::new(hips),
        values: TrackValues::Translation(Keys {
            times_s: vec![0.0, 0.4, 1.0, 1.7],
            values: values.collect::<Vec<Vec3>>(),
            interpolation: Interpolation::CubicSpline,
        }),
    };
    let clip = CurveClip::new("spline", vec![track], skeleton).unwrap();
    let mut before = f64::INFINITY;
    for (max_error, most) in [(1e-2, 40), (1e-3, 120), (1e-4, 400)] {
        let options = RetargetOptions {
            max_error,
            ..RetargetOptions::default()
        };
        let mut retarget = Retarget::new(skeleton, skeleton, &map, &options).unwrap();
        let (same, report) = retarget.clip(&clip).unwrap();
        assert!(report.max_error_m <= report.allowed_m && report.max_error_m < before);
        before = report.max_error_m;
        assert!(
            report.times <= most,
            "{} times for {max_error}",
            report.times
        );
        let mut worst = 0.0_f64;
        for at in 0..=500 {
            let time_s = 1.7 * f64::from(at) / 500.0;
            let [a, b] = [&clip, &same].map(|c| model(skeleton, &posed(skeleton, c, time_s)));
            worst = worst.max(difference(&a, &b, 0.1));
        }
        // The error of a parabola between keys is largest in the middle, where it was measured;
        // 1e-6 for rounding.
        assert!(
            worst < 1.05 * report.allowed_m + 1e-6,
            "{worst} of {}",
            report.allowed_m
        );
    }
}
