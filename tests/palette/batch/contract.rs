//! Errors, odd times and odd clips.

use super::load::palettes;
use crate::reference::batch::Sample;
use crate::reference::raws;
use crate::reference::rig::{chain, keys};
use crate::reference::words::Fails;
use throng::SimdLevel;
use throng::animator::Animator;
use throng::character::{AnimationDesc, Character};
use throng::clip::{Clip, ClipOptions, CurveClip, Interpolation, Track, TrackValues};
use throng::glam::{Quat, Vec3};
use throng::state_machine::{MaskBranchDesc, MaskDesc};

fn made(character: &Character, tracks: Vec<Track>) -> (CurveClip, Clip) {
    let raw = CurveClip::new("made", tracks, character.skeleton()).unwrap();
    let clip = Clip::new(character, &raw, &ClipOptions::default()).unwrap();
    (raw, clip)
}

/// The character with these clips.
fn with(character: Character, clips: Vec<CurveClip>) -> Character {
    character.with_clips(clips).unwrap()
}

fn track(joint: u16, values: TrackValues) -> Track {
    raws::track(joint, values)
}

/// A looping rotation of the first joint.
fn turning(character: &Character) -> (CurveClip, Clip) {
    let turns = [0.0, 0.4, -0.3, 0.0].map(Quat::from_rotation_z);
    let times = [0.0, 0.31, 0.74, 1.0];
    let rotations = keys(Interpolation::Linear, times, turns);
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
                TrackValues::Translation(keys(Interpolation::Step, times, places)),
            ),
            track(
                9,
                TrackValues::Rotation(keys(Interpolation::Step, times, turns)),
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
    let (turning, _) = turning(&character);
    let character = with(character, vec![raw, turning]);
    let before = f64::from(0.777_f32.next_down());
    let at = |clip, time_s| [Sample::new(clip, time_s)];
    let instances = [
        at(0, before),
        at(1, 0.4),
        at(0, 0.777_f32.into()),
        at(0, 0.2),
    ];
    for level in SimdLevel::available() {
        let got = palettes(&character, level, &instances);
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
                TrackValues::Rotation(keys(Interpolation::Linear, times, jump)),
            ),
            track(
                0,
                TrackValues::Translation(keys(Interpolation::Linear, [0.0, 2.0], slow)),
            ),
        ],
    );
    assert_eq!(clip.report().kept_tracks, 1, "{:?}", clip.report());
    for time_s in [0.49, 0.5, 0.500_05, 0.500_1, 0.51, 1.9] {
        let [exact, got] = locals(&character, &raw, &clip, time_s);
        // Keys are rounded to an eighth of the bound, which is 1e-4 for a character of 1.8 m.
        let off = exact[1].iter().zip(got[1]).map(|(a, b)| (a - b).abs());
        let off = off.fold(0.0, f32::max);
        assert!(off <= 4e-6, "{off} at {time_s}");
    }
}

#[test]
fn loops_close_and_ends_hold() {
    let character = chain(2);
    let (raw, _) = turning(&character);
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
    let character = with(character, vec![raw]);
    for level in SimdLevel::available() {
        let pose = |time_s| palettes(&character, level, &[[Sample::new(0, time_s)]]);
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
        let line = keys(Interpolation::Linear, [0.0, end_s], ends);
        let (raw, clip) = made(&character, vec![track(0, TrackValues::Translation(line))]);
        assert!(clip.report().frames <= 1 << 14, "{:?}", clip.report());
        let [exact, got] = locals(&character, &raw, &clip, f64::from(end_s) * 0.77);
        assert!((exact[0][4] - got[0][4]).abs() < 1e-5);
    }
    let (_, none) = made(&character, Vec::new());
    assert_eq!(none.report().frames, 1);
    let still = keys(Interpolation::Linear, [0.0], [Vec3::Y]);
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
        Clip::new(&character, &raw, &options).fails("clip error_m: …");
    }
    let (long, _) = made(
        &chain(5),
        vec![track(
            4,
            TrackValues::Scale(keys(Interpolation::Linear, [0.0], [Vec3::ONE])),
        )],
    );
    Clip::new(&character, &long, &ClipOptions::default())
        .fails("joint 4 does not exist: there are 2");
}

#[test]
fn weights_of_any_size_give_finite_poses() {
    let character = chain(9);
    let (raw, _) = turning(&character);
    let branches = (0_u8..9).map(|joint| MaskBranchDesc {
        joint: format!("joint {joint}"),
        weight: f32::from(joint) / 8.0,
        feather: 0,
    });
    let mask = MaskDesc {
        name: "ramp".into(),
        branches: branches.collect(),
    };
    let desc = AnimationDesc {
        masks: vec![mask],
        ..AnimationDesc::default()
    };
    let character = with(character, vec![raw]).with_animation(&desc).unwrap();
    let one = |weight| Sample::new(0, 0.3).weighted(weight);
    // The most that two halvings leave.
    let most = f32::MAX / 4.0;
    let instances = [
        vec![one(most); 3],
        vec![one(most).masked(0); 3],
        vec![one(f32::from_bits(1))],
        vec![one(f32::from_bits(1)).masked(0).on_layer(255)],
        vec![one(f32::MAX), one(f32::MAX).on_layer(1)],
        vec![],
    ];
    for level in SimdLevel::available() {
        let all = palettes(&character, level, &instances);
        let mut numbers = all.iter().flat_map(|m| m.rows.as_flattened());
        assert!(numbers.all(|v| v.is_finite()), "{level}");
    }
}

#[test]
fn levels_that_the_cpu_lacks_are_refused() {
    let mut animator = Animator::new(&chain(3)).unwrap();
    let can_neither = [SimdLevel::Neon, SimdLevel::Sse2];
    let refused = can_neither.map(|level| animator.set_simd_level(level).is_err());
    let is_either = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
    let refused = refused.iter().filter(|one| **one).count();
    assert_eq!(refused, 2 - usize::from(is_either));
}
