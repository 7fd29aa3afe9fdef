//! Errors, odd times and odd clips.

use super::load::{clips, codes, list, palettes};
use crate::reference::rig::{chain, keys};
use throng::animate::BatchPoser;
use throng::character::Character;
use throng::clip::{Clip, ClipOptions};
use throng::clip::{CurveClip, Interpolation, Track, TrackValues};
use throng::glam::{Quat, Vec3};
use throng::motion::ClipSample;
use throng::palette::{Mat3x4, WriteOnly};
use throng::simd::SimdLevel;
use throng::skeleton::Mask;
use throng::{Error, Id, Threads};

fn made(character: &Character, tracks: Vec<Track>) -> (CurveClip, Clip) {
    let raw = CurveClip::new("made", tracks, character.skeleton()).unwrap();
    let clip = Clip::new(character, &raw, &ClipOptions::default()).unwrap();
    (raw, clip)
}

fn track(joint: u16, values: TrackValues) -> Track {
    Track {
        joint: Id::new(joint),
        values,
    }
}

/// A looping rotation of the first joint.
fn turning(character: &Character) -> (CurveClip, Clip) {
    let turns = [0.0, 0.4, -0.3, 0.0].map(Quat::from_rotation_z);
    let times = [0.0, 0.31, 0.74, 1.0];
    let rotations = keys(Interpolation::Linear, &times, &turns);
    made(character, vec![track(0, TrackValues::Rotation(rotations))])
}

fn locals(character: &Character, raw: &CurveClip, clip: &Clip, time_s: f64) -> [Vec<[f32; 10]>; 2] {
    let joints = character.skeleton().joints();
    let mut exact: Vec<_> = joints.iter().map(|joint| joint.rest).collect();
    let mut got = exact.clone();
    raw.sample(time_s, &mut exact).unwrap();
    clip.sample(time_s, &mut got).unwrap();
    [exact, got].map(|pose| {
        let numbers = |t: &throng::skeleton::Transform| {
            let (q, t, s) = (t.rotation.to_array(), t.translation, t.scale);
            let all = q.into_iter().chain(t.to_array()).chain(s.to_array());
            all.collect::<Vec<_>>().try_into().unwrap()
        };
        pose.iter().map(numbers).collect()
    })
}

#[test]
fn steps_stay_steps() {
    let character = chain(11);
    let times = [0.0, 0.123, 0.777, 1.3];
    let places = [0.0, 1.0, -0.5, 0.25].map(|x| Vec3::new(x, 1.0, 0.0));
    let turns = [0.0, 1.0, -2.0, 0.5].map(Quat::from_rotation_x);
    let (raw, clip) = made(
        &character,
        vec![
            track(
                3,
                TrackValues::Translation(keys(Interpolation::Step, &times, &places)),
            ),
            track(
                9,
                TrackValues::Rotation(keys(Interpolation::Step, &times, &turns)),
            ),
        ],
    );
    assert_eq!(clip.report().kept_tracks, 2);
    let beside = times
        .iter()
        .flat_map(|t| [f64::from(*t), f64::from(t.next_down())]);
    for time_s in beside.chain([0.5, 0.9, -3.0, 9.0]) {
        let [exact, got] = locals(&character, &raw, &clip, time_s);
        assert_eq!(exact, got, "at {time_s}");
    }
    // The same in a batch, beside instances without steps.
    let (_, turning) = turning(&character);
    let clips = [clip, turning];
    let before = f64::from(0.777_f32.next_down());
    let at = |clip, time_s| [ClipSample::new(clip, time_s)];
    let instances = [
        at(Id::new(0), before),
        at(Id::new(1), 0.4),
        at(Id::new(0), 0.777_f32.into()),
        at(Id::new(0), 0.2),
    ];
    for poser in codes(&character) {
        let got = palettes(&poser, &character, &clips, &instances);
        let of = |instance: usize| &got[instance * 11..][..11];
        assert_eq!(of(0), of(3), "the same step");
        assert_ne!(of(0), of(2), "the next");
    }
}

#[test]
fn what_no_even_sampling_follows_is_kept() {
    let character = chain(3);
    let times = [0.0, 0.5, 0.500_1, 2.0];
    let jump = [0.0, 0.0, 2.0, 2.0].map(Quat::from_rotation_z);
    let slow = [Vec3::ZERO, Vec3::X];
    let (raw, clip) = made(
        &character,
        vec![
            track(
                1,
                TrackValues::Rotation(keys(Interpolation::Linear, &times, &jump)),
            ),
            track(
                0,
                TrackValues::Translation(keys(Interpolation::Linear, &[0.0, 2.0], &slow)),
            ),
        ],
    );
    assert_eq!(clip.report().kept_tracks, 1, "{:?}", clip.report());
    for time_s in [0.49, 0.5, 0.500_05, 0.500_1, 0.51, 1.9] {
        let [exact, got] = locals(&character, &raw, &clip, time_s);
        assert_eq!(exact[1], got[1], "at {time_s}");
    }
}

#[test]
fn loops_close_and_ends_hold() {
    let character = chain(2);
    let (raw, clip) = turning(&character);
    let options = ClipOptions {
        quantise: false,
        ..ClipOptions::default()
    };
    let exactly = Clip::new(&character, &raw, &options).unwrap();
    for time_s in [0.0, 1.0] {
        let [exact, got] = locals(&character, &raw, &exactly, time_s);
        for (exact, got) in exact.as_flattened().iter().zip(got.as_flattened()) {
            // Keys are normalised again.
            assert!((exact - got).abs() <= 1.2e-7, "{exact} {got}");
        }
    }
    let at = |time_s| [ClipSample::new(Id::new(0), time_s)];
    for poser in codes(&character) {
        let pose = |time_s| {
            palettes(
                &poser,
                &character,
                std::slice::from_ref(&clip),
                &[at(time_s)],
            )
        };
        let (start, end) = (pose(0.0), pose(1.0));
        assert_eq!(start, end, "a loop closes");
        for time_s in [
            -1.0,
            f64::NAN,
            f64::NEG_INFINITY,
            f64::MIN,
            f32::MIN.into(),
            -0.0,
        ] {
            assert_eq!(pose(time_s), start, "at {time_s}");
        }
        for time_s in [1.5, f64::INFINITY, f64::MAX, f32::MAX.into()] {
            assert_eq!(pose(time_s), end, "at {time_s}");
        }
        assert_ne!(pose(0.3), start);
    }
}

#[test]
fn long_and_short_and_empty_clips_are_made() {
    let character = chain(2);
    let ends = [Vec3::ZERO, Vec3::X];
    for end_s in [f32::MIN_POSITIVE, 1e-3, 3e5, f32::MAX] {
        let line = keys(Interpolation::Linear, &[0.0, end_s], &ends);
        let (raw, clip) = made(&character, vec![track(0, TrackValues::Translation(line))]);
        assert!(clip.report().frames <= 1 << 14, "{:?}", clip.report());
        let [exact, got] = locals(&character, &raw, &clip, f64::from(end_s) * 0.77);
        assert!((exact[0][4] - got[0][4]).abs() < 1e-5);
    }
    let (_, none) = made(&character, Vec::new());
    assert_eq!(none.report().frames, 1);
    let still = keys(Interpolation::Linear, &[0.0], &[Vec3::Y]);
    let (raw, still) = made(&character, vec![track(0, TrackValues::Translation(still))]);
    assert_eq!(still.report().frames, 1);
    let [exact, got] = locals(&character, &raw, &still, 3.0);
    assert_eq!(exact, got);
}

#[test]
fn clips_are_refused_by_name() {
    let character = chain(2);
    let (raw, _) = turning(&character);
    for error_m in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let options = ClipOptions {
            error_m: Some(error_m),
            ..ClipOptions::default()
        };
        let refused = Clip::new(&character, &raw, &options).unwrap_err();
        assert!(
            matches!(
                refused,
                Error::Argument {
                    what: "clip error_m",
                    ..
                }
            ),
            "{refused}"
        );
    }
    let (long, _) = made(
        &chain(5),
        vec![track(
            4,
            TrackValues::Scale(keys(Interpolation::Linear, &[0.0], &[Vec3::ONE])),
        )],
    );
    let refused = Clip::new(&character, &long, &ClipOptions::default()).unwrap_err();
    assert!(matches!(
        refused,
        Error::NotFound {
            what: "joint",
            index: 4,
            count: 2
        }
    ));
}

#[test]
fn instances_are_refused_by_number_and_nothing_is_written() {
    let character = chain(2);
    let clips_here = vec![turning(&character).1, turning(&chain(3)).1];
    let mask = Mask::from_weights(vec![1.0, 0.5]).unwrap();
    let poser = BatchPoser::new(&character).unwrap();
    let poser = poser.with_masks(&[mask.clone(), mask.clone()]).unwrap();
    let rayon = BatchPoser::new(&character).unwrap();
    let rayon = rayon.with_masks(&[mask.clone(), mask]).unwrap();
    let rayon = rayon.with_threads(Threads::Rayon);
    let one = |clip, weight| ClipSample::new(clip, 0.0).weighted(weight);
    let good = one(Id::new(0), 1.0);
    let cases = [
        (
            vec![one(Id::new(2), 1.0)],
            "instance 1: clip 2 does not exist: there are 2",
        ),
        (
            vec![one(Id::new(1), 1.0)],
            "instance 1: clip: was made for another skeleton",
        ),
        (
            vec![good, one(Id::new(0), -1.0)],
            "instance 1: weight: -1 must be at least 0",
        ),
        (
            vec![one(Id::new(0), f32::NAN)],
            "instance 1: weight: NaN is not finite",
        ),
        (
            vec![one(Id::new(0), f32::INFINITY)],
            "instance 1: weight: inf is not finite",
        ),
        (
            vec![good, good, good.masked(Id::new(2))],
            "instance 1: mask 2 does not exist: there are 2",
        ),
        (
            vec![good.on_level(2), good.on_level(1)],
            "instance 1: level: must not be less than that of the previous sample",
        ),
    ];
    for (bad, words) in cases {
        let mut out = vec![Mat3x4::IDENTITY; 6];
        out[0].rows[0][3] = 7.0;
        let before = out.clone();
        // The error names the first of two.
        let crowd = list(&[vec![good], bad.clone(), bad]);
        let to = WriteOnly::over(&mut out);
        let refused = poser.palettes(&clips_here, &crowd, to).unwrap_err();
        assert!(refused.to_string().starts_with(words), "{refused}");
        let to = WriteOnly::over(&mut out);
        let refused = rayon.palettes(&clips_here, &crowd, to).unwrap_err();
        assert!(refused.to_string().starts_with(words), "{refused}");
        assert_eq!(out, before);
    }
    let mut short = vec![Mat3x4::IDENTITY; 3];
    let to = WriteOnly::over(&mut short);
    let refused = poser.palettes(&clips_here, &list(&[[good]; 2]), to);
    assert_eq!(
        refused.unwrap_err().to_string(),
        "palettes: has 3 elements, needs 4"
    );
}

#[test]
fn weights_of_any_size_give_finite_poses() {
    let character = chain(9);
    let clips = [turning(&character).1];
    let one = |weight| ClipSample::new(Id::new(0), 0.3).weighted(weight);
    let mask = (0_u8..9).map(|joint| f32::from(joint) / 8.0).collect();
    let mask = Mask::from_weights(mask).unwrap();
    let instances = [
        vec![one(f32::MAX); 3],
        vec![one(f32::MAX).masked(Id::new(0)); 3],
        vec![one(f32::from_bits(1))],
        vec![one(f32::from_bits(1)).masked(Id::new(0)).on_level(255)],
        vec![one(f32::MAX), one(f32::MAX).on_level(1)],
        vec![],
    ];
    for poser in codes(&character) {
        let poser = poser.with_masks(std::slice::from_ref(&mask)).unwrap();
        let all = palettes(&poser, &character, &clips, &instances);
        let mut numbers = all.iter().flat_map(|m| m.rows.as_flattened());
        assert!(numbers.all(|v| v.is_finite()), "{}", poser.simd_level());
    }
}

#[test]
fn masks_thresholds_codes_and_model_poses_are_refused() {
    let character = chain(3);
    let poser = || BatchPoser::new(&character).unwrap();
    let masks = [3, 2].map(|joints| Mask::from_weights(vec![1.0; joints]).unwrap());
    let refused = poser().with_masks(&masks).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "mask 1: weights: has 2 elements, needs 3"
    );
    for threshold in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        assert!(poser().with_threshold(threshold).is_err());
    }
    let can_neither = [SimdLevel::Neon, SimdLevel::Sse2];
    let refused = can_neither.map(|code| poser().with_simd_level(code).is_err());
    let is_either = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
    let refused = refused.iter().filter(|one| **one).count();
    assert_eq!(refused, 2 - usize::from(is_either));
    let models = vec![throng::glam::Affine3A::IDENTITY; 5];
    let mut out = vec![Mat3x4::IDENTITY; 6];
    let refused = poser().finish(&models, WriteOnly::over(&mut out));
    assert_eq!(
        refused.unwrap_err().to_string(),
        "model poses: has 5 elements, needs 3"
    );
    let refused = poser().finish(&models[..3], WriteOnly::over(&mut out));
    assert_eq!(
        refused.unwrap_err().to_string(),
        "palettes: has 6 elements, needs 3"
    );
    assert!(clips(&character).is_empty());
}
