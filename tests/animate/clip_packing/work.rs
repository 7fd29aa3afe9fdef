//! The work of packing is bounded by the size of the curves, whatever their times and values.

use crate::reference::raws;
use crate::reference::rig::{chain, keys};
use throng::character::Character;
use throng::clip::{Clip, ClipOptions, CurveClip, Interpolation, TrackValues};
use throng::glam::{Quat, Vec3};

/// Frames that curves may be sampled at: a fixed number, and more for each key time.
const FRAMES: u64 = 64;
const FRAMES_PER_KEY: u64 = 16;

/// Values between which no low rate follows: splines that swing far out, turns and jumps.
fn values(kind: usize, times: &[f32]) -> TrackValues {
    let spread = |scale: f32, count: usize| {
        (0..count).map(move |at| scale * ((at * 7 + 3) % 5) as f32 - scale)
    };
    let splines = times.len() * 3;
    let turn = |a: f32| Quat::from_xyzw(a, 0.3 - a, 0.1, 0.5);
    match kind {
        0 | 1 => {
            let scale = [1.0, 1e3][kind];
            let values: Vec<Vec3> = spread(scale, splines).map(Vec3::splat).collect();
            TrackValues::Translation(keys(Interpolation::CubicSpline, times, &values))
        }
        2 => {
            let values: Vec<Quat> = spread(0.2, splines).map(turn).collect();
            TrackValues::Rotation(keys(Interpolation::CubicSpline, times, &values))
        }
        3 => {
            let turns = spread(1.4, times.len()).map(Quat::from_rotation_x);
            TrackValues::Rotation(keys(
                Interpolation::Linear,
                times,
                turns.collect::<Vec<_>>(),
            ))
        }
        _ => {
            let values: Vec<Vec3> = spread(1.0, times.len()).map(Vec3::splat).collect();
            TrackValues::Translation(keys(Interpolation::Linear, times, &values))
        }
    }
}

fn clip(character: &Character, kind: usize, times: &[f32]) -> CurveClip {
    let track = |joint: usize| raws::track(joint as u16, values(kind, times));
    let tracks = (1..character.skeleton().len()).map(track).collect();
    CurveClip::new("work", tracks, character.skeleton()).unwrap()
}

/// Three keys over minutes or days once took tens of thousands of frames at every rate.
#[test]
fn the_work_is_bounded_by_the_number_of_keys() {
    let character = chain(12);
    for length in [1.0_f32, 10.0, 100.0, 400.0, 1e4, 1e9, f32::MAX] {
        for kind in 0..5 {
            for parts in [
                &[0.0, 1.0][..],
                &[0.0, 0.37, 1.0],
                &[0.0, 0.1, 0.5, 0.77, 0.9, 1.0],
            ] {
                let times: Vec<f32> = parts.iter().map(|part| part * length).collect();
                let raw = clip(&character, kind, &times);
                let options = ClipOptions::default();
                let frames = FRAMES + FRAMES_PER_KEY * times.len() as u64;
                let made = Clip::new(&character, &raw, &options).unwrap();
                assert!(made.report().frames as u64 <= frames, "{:?}", made.report());
            }
        }
    }
}

/// A baked clip needs no more frames than it has keys, so the limit does not touch it.
#[test]
fn baked_clips_keep_their_rate() {
    let character = chain(4);
    for rate in [24.0_f32, 30.0, 60.0, 120.0] {
        let times: Vec<f32> = (0..200).map(|key| key as f32 / rate).collect();
        let values: Vec<Vec3> = (0..200)
            .map(|key| Vec3::splat((key as f32 * 0.4).sin()))
            .collect();
        let values = TrackValues::Translation(keys(Interpolation::Linear, &times, &values));
        let track = raws::track(1, values);
        let raw = CurveClip::new("baked", vec![track], character.skeleton()).unwrap();
        let made = Clip::new(&character, &raw, &ClipOptions::default()).unwrap();
        assert_eq!(made.report().kept_tracks, 0, "{:?}", made.report());
        assert!((made.report().rate_hz - f64::from(rate)).abs() < 1e-3);
    }
}
