//! Clips that no exporter should write: nothing panics, memory has a bound, and results are
//! correct.

use crate::reference::raws;
use crate::reference::rig::{chain, keys};
use throng::Id;
use throng::character::Character;
use throng::clip::{Clip, ClipOptions};
use throng::clip::{CurveClip, Interpolation, Track, TrackValues};
use throng::glam::{Quat, Vec3};
use throng::skeleton::Transform;

fn clip(character: &Character, tracks: Vec<Track>) -> (CurveClip, Clip) {
    let raw = CurveClip::new("odd", tracks, character.skeleton()).unwrap();
    let clip = Clip::new(character, &raw, &ClipOptions::default()).unwrap();
    (raw, clip)
}

fn line(joint: u16, times: &[f32], values: &[Vec3]) -> Track {
    let values = TrackValues::Translation(keys(Interpolation::Linear, times, values));
    raws::track(joint, values)
}

fn poses(character: &Character, raw: &CurveClip, clip: &Clip, time: f64) -> [Vec<Transform>; 2] {
    let joints = character.skeleton().joints();
    let mut exact: Vec<_> = joints.iter().map(|joint| joint.rest).collect();
    let mut got = exact.clone();
    raw.sample(time, &mut exact).unwrap();
    clip.sample(time, &mut got).unwrap();
    [exact, got]
}

#[test]
fn values_of_any_size_are_followed_to_their_own_precision() {
    let character = chain(4);
    let times = [0.0, 0.25, 0.5, 1.0];
    for size in [1e30_f32, 3e38, 1e20, 1e6, 1e-20, 1e-38, 1e-45] {
        let values = [0.0, 1.0, -0.5, 0.75].map(|part| Vec3::new(part * size, 1.0, 0.0));
        let turn = [0.0, 0.5, -0.5, 0.1].map(Quat::from_rotation_z);
        let tracks = vec![
            line(1, &times, &values),
            raws::track(
                2,
                TrackValues::Rotation(keys(Interpolation::Linear, times, turn)),
            ),
        ];
        let (raw, clip) = clip(&character, tracks);
        for time in [0.0, 0.1, 0.25, 0.3, 0.5, 0.9, 1.0] {
            let [exact, got] = poses(&character, &raw, &clip, time);
            let off = (exact[1].translation.x - got[1].translation.x).abs();
            let allowed = (1e-6 * size).max(1e-3);
            assert!(
                off <= allowed,
                "{size} at {time}: {exact:?} {got:?} {:?}",
                clip.report()
            );
            assert!(got.iter().all(|joint| joint.translation.is_finite()));
        }
    }
}

#[test]
fn scales_of_zero_and_below_are_followed() {
    let character = chain(4);
    let times = [0.0, 0.5, 1.0];
    for values in [
        [Vec3::ONE, Vec3::ZERO, Vec3::ONE],
        [Vec3::ONE, Vec3::NEG_ONE, Vec3::ONE],
        [Vec3::ZERO; 3],
        [Vec3::NEG_ONE; 3],
        [
            Vec3::new(1.0, 0.0, -2.0),
            Vec3::ONE,
            Vec3::new(1e-20, 3.0, 1.0),
        ],
    ] {
        let values = TrackValues::Scale(keys(Interpolation::Linear, times, values));
        let (raw, clip) = clip(&character, vec![raws::track(1, values)]);
        for time in [0.0, 0.2, 0.5, 0.8, 1.0] {
            let [exact, got] = poses(&character, &raw, &clip, time);
            let off = (exact[1].scale - got[1].scale).abs().max_element();
            // Its descendants are up to 2 m away. Half a per mille of that exceeds what the bound
            // allows.
            assert!(
                off <= 1e-3,
                "at {time}: {exact:?} {got:?} {:?}",
                clip.report()
            );
        }
    }
}

#[test]
fn clips_of_any_length_are_made() {
    let character = chain(3);
    for length in [1e-7_f32, 1e-38, 1e-45, 3600.0, 1e9, f32::MAX] {
        let times: Vec<f32> = [0.0, 0.3, 0.7, 1.0].map(|part| part * length).to_vec();
        let mut times = times;
        times.dedup();
        let values: Vec<Vec3> = (0..times.len()).map(|key| Vec3::X * key as f32).collect();
        let (raw, clip) = clip(&character, vec![line(1, &times, &values)]);
        assert!(clip.report().frames <= 1 << 14);
        for part in [0.0, 0.1, 0.3, 0.5, 0.99, 1.0] {
            let time = f64::from(length) * part;
            let [exact, got] = poses(&character, &raw, &clip, time);
            let off = (exact[1].translation - got[1].translation).length();
            assert!(
                off <= 1e-3,
                "{length} at {part}: {exact:?} {got:?} {:?}",
                clip.report()
            );
        }
    }
}

#[test]
fn long_clips_of_many_joints_take_no_more_than_they_may() {
    let character = chain(2000);
    let times: Vec<f32> = (0..60).map(|key| 60.0 * key as f32).collect();
    let tracks = (0..2000)
        .step_by(7)
        .map(|joint| {
            let values: Vec<Vec3> = (0..60)
                .map(|key| Vec3::new(0.0, 1.0, ((key * 31 + joint) % 17) as f32 * 0.01))
                .collect();
            line(joint as u16, &times, &values)
        })
        .collect();
    let (raw, clip) = clip(&character, tracks);
    println!("{:?}", clip.report());
    let own: usize = raw.tracks().len() * 60 * 16;
    assert!(
        clip.report().bytes <= 4 * own + 2000 * 64,
        "{:?}",
        clip.report()
    );
    assert_eq!(clip.sample_joint(Id::new(2000), 1.0), Transform::IDENTITY);
    assert_eq!(
        clip.sample_joint(Id::new(u16::MAX), f64::NAN),
        Transform::IDENTITY
    );
}

#[test]
fn single_keys_take_a_frame() {
    let character = chain(3);
    let (raw, clip) = clip(&character, vec![line(1, &[0.5], &[Vec3::NEG_X])]);
    assert_eq!(clip.report().frames, 1);
    for time in [-1.0, 0.0, 0.5, 2.0, f64::NAN, f64::INFINITY] {
        let [exact, got] = poses(
            &character,
            &raw,
            &clip,
            if time == f64::INFINITY { 9.0 } else { time },
        );
        assert_eq!(exact, got);
    }
}

/// The largest distance from the curves at these times, in metres.
///
/// It is measured at the translation of each joint and at a point 0.1 m beside it.
fn worst(character: &Character, raw: &CurveClip, clip: &Clip, times: &[f64]) -> f32 {
    let mut worst = 0.0_f32;
    for time in times {
        let [exact, got] = poses(character, raw, clip, *time);
        for (exact, got) in exact.iter().zip(&got) {
            let [a, b] = [exact, got].map(|joint| joint.to_affine());
            for point in [Vec3::ZERO, Vec3::Y * 0.1] {
                worst = worst.max(
                    a.transform_point3(point)
                        .distance(b.transform_point3(point)),
                );
            }
        }
    }
    worst
}

#[test]
fn one_key_of_very_many_is_not_lost() {
    let character = chain(4);
    for keys_in_file in [18_001_usize, 70_001] {
        let times: Vec<f32> = (0..keys_in_file).map(|key| key as f32 / 30.0).collect();
        for at in [3333, 3334, 9001, 17_997] {
            let mut values = vec![Vec3::Y; keys_in_file];
            values[at].x = 1.0;
            let (raw, clip) = clip(&character, vec![line(1, &times, &values)]);
            let around = [at - 1, at, at + 1].map(|key| f64::from(times[key]));
            let off = worst(&character, &raw, &clip, &around);
            // The bound is 1e-4 of a human's size, and the chain is shorter.
            assert!(
                off < 1e-3,
                "{keys_in_file}, {at}: {off} {:?}",
                clip.report()
            );
        }
    }
}

#[test]
fn a_spline_that_swings_out_between_two_keys_is_not_lost() {
    let character = chain(4);
    let times = [0.0, 0.31, 0.32, 1.0];
    let swings = |out: Vec3| {
        let mut values = [Vec3::ZERO, Vec3::Y, Vec3::ZERO].repeat(4);
        values[5] = out;
        values
    };
    let turns = {
        let none = Quat::from_xyzw(0.0, 0.0, 0.0, 0.0);
        let mut values = [none, Quat::IDENTITY, none].repeat(4);
        values[6] = Quat::from_xyzw(300.0, 0.0, 0.0, 0.0);
        values
    };
    let spline = Interpolation::CubicSpline;
    for values in [
        TrackValues::Translation(keys(spline, times, swings(Vec3::X * 1000.0))),
        TrackValues::Rotation(keys(spline, times, &turns)),
    ] {
        let (raw, clip) = clip(&character, vec![raws::track(1, values)]);
        let between: Vec<f64> = (0..=40)
            .map(|k| 0.308 + 0.014 * f64::from(k) / 40.0)
            .collect();
        let off = worst(&character, &raw, &clip, &between);
        assert!(off < 1e-3, "{off} {:?}", clip.report());
    }
}

#[test]
fn many_joints_that_must_be_precise_are_packed_too() {
    // The end of each of forty joints must be followed. The first eight need more bits than a row
    // of fields may have.
    let character = chain(40);
    let times: Vec<f32> = (0..61).map(|key| key as f32 / 30.0).collect();
    let track = |joint: u16| {
        let turn = |time: &f32| Quat::from_rotation_z((3.0 * time + f32::from(joint)).sin());
        let turns: Vec<_> = times.iter().map(turn).collect();
        let values = TrackValues::Rotation(keys(Interpolation::Linear, &times, &turns));
        raws::track(joint, values)
    };
    let (_, clip) = clip(&character, (0..40).map(track).collect());
    let report = clip.report();
    assert!(report.quantised, "{report:?}");
    assert!(report.ratio() > 3.0, "{report:?}");
}

/// A clip of 115 days at 30 Hz has more bytes than 32 bits can count.
#[test]
fn the_uncompressed_size_is_exact() {
    let character = chain(300);
    for (length, frames) in [
        (0.0_f32, 1.0),
        (2.0, 61.0),
        (1e6, 30_000_001.0),
        (1e7, 300_000_001.0),
        (f32::MAX, 30.0 * f64::from(f32::MAX)),
    ] {
        let (times, values) = match length {
            0.0 => (vec![0.0], vec![Vec3::X]),
            _ => (vec![0.0, length], vec![Vec3::X, Vec3::Y]),
        };
        let (_, clip) = clip(&character, vec![line(1, &times, &values)]);
        assert_eq!(clip.report().raw_bytes, frames * 12_000.0, "{length} s");
    }
}
