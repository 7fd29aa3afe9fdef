//! The animate stage: sampling of curves, with tracks made by hand.

use crate::reference::rig::{chain, clip, keys};
use crate::reference::rng::Rng;
use throng::clip::Interpolation::{CubicSpline, Linear, Step};
use throng::clip::{CurveClip, Interpolation, Track, TrackValues};
use throng::glam::{DQuat, DVec3, Quat, Vec3};
use throng::skeleton::Transform;
use throng::{Error, Id};

fn sample(clip: &CurveClip, time_s: f64) -> Transform {
    let mut local = [Transform::IDENTITY];
    clip.sample(time_s, &mut local).unwrap();
    local[0]
}

fn translations(interpolation: Interpolation, times_s: &[f32], values: &[Vec3]) -> CurveClip {
    clip(TrackValues::Translation(keys(
        interpolation,
        times_s,
        values,
    )))
}

fn rotations(interpolation: Interpolation, times_s: &[f32], values: &[Quat]) -> CurveClip {
    clip(TrackValues::Rotation(keys(interpolation, times_s, values)))
}

fn wide(q: Quat) -> DQuat {
    DQuat::from_array(q.to_array().map(f64::from))
}

/// The angle of the rotation that takes one to the other, in radians, in `f64`.
fn between(a: Quat, b: DQuat) -> f64 {
    let turn = wide(a).normalize().conjugate() * b.normalize();
    2.0 * turn.xyz().length().atan2(turn.w.abs())
}

/// Times that are not exact in binary, so that no result is exact by chance.
const TIMES: [f32; 4] = [0.1, 0.3, 0.7, 1.9];

fn awkward() -> Vec<Vec3> {
    let mut rng = Rng::new(7);
    (0..4).map(|_| rng.vector(-3.0, 3.0)).collect()
}

#[test]
fn keys_are_met_exactly() {
    let values = awkward();
    let zero = Vec3::splat(9.0);
    let splined: Vec<_> = values.iter().flat_map(|v| [zero, *v, -zero]).collect();
    let step = translations(Step, &TIMES, &values);
    let linear = translations(Linear, &TIMES, &values);
    let cubic = translations(CubicSpline, &TIMES, &splined);
    for (time, value) in TIMES.iter().zip(&values) {
        for clip in [&step, &linear, &cubic] {
            assert_eq!(sample(clip, f64::from(*time)).translation, *value);
        }
    }
    let turns: Vec<_> = [Vec3::X, Vec3::Y, Vec3::Z, Vec3::NEG_X]
        .map(|axis| Quat::from_axis_angle(axis, 1.1))
        .into();
    for interpolation in [Step, Linear] {
        let clip = rotations(interpolation, &TIMES, &turns);
        for (time, turn) in TIMES.iter().zip(&turns) {
            let got = sample(&clip, f64::from(*time)).rotation;
            assert!(got.abs_diff_eq(*turn, f32::EPSILON), "{got} {turn}");
        }
    }
}

#[test]
fn the_first_and_last_key_hold_outside() {
    let values = awkward();
    let zero = Vec3::splat(9.0);
    let splined: Vec<_> = values.iter().flat_map(|v| [zero, *v, -zero]).collect();
    for clip in [
        translations(Step, &TIMES, &values),
        translations(Linear, &TIMES, &values),
        translations(CubicSpline, &TIMES, &splined),
    ] {
        for before in [f64::NEG_INFINITY, -1e300, -1.0, 0.0, 0.0999, f64::NAN] {
            assert_eq!(sample(&clip, before).translation, values[0], "{before}");
        }
        for after in [1.9001, 2.0, 1e300, f64::INFINITY] {
            assert_eq!(sample(&clip, after).translation, values[3], "{after}");
        }
    }
}

#[test]
fn a_single_key_holds_always() {
    for time in [-1.0, 0.0, 0.5, 2.0] {
        let clip = translations(Linear, &[0.5], &[Vec3::X]);
        assert_eq!(sample(&clip, time).translation, Vec3::X);
        let clip = translations(CubicSpline, &[0.5], &[Vec3::Y, Vec3::X, Vec3::Z]);
        assert_eq!(sample(&clip, time).translation, Vec3::X);
        let clip = rotations(Step, &[0.5], &[Quat::from_xyzw(0.6, 0.0, 0.8, 0.0)]);
        assert_eq!(
            sample(&clip, time).rotation,
            Quat::from_xyzw(0.6, 0.0, 0.8, 0.0)
        );
    }
}

#[test]
fn steps_hold_until_the_next_key() {
    let values = awkward();
    let clip = translations(Step, &TIMES, &values);
    let just_before = f64::from(TIMES[2]).next_down();
    for (time, key) in [(0.2, 0), (0.31, 1), (just_before, 1), (1.0, 2), (1.89, 2)] {
        assert_eq!(sample(&clip, time).translation, values[key], "{time}");
    }
}

#[test]
fn linear_is_the_straight_line() {
    let clip = clip(TrackValues::Scale(keys(
        Linear,
        [1.0, 3.0],
        [Vec3::new(0.0, -4.0, 8.0), Vec3::new(8.0, 4.0, 0.0)],
    )));
    assert_eq!(sample(&clip, 1.5).scale, Vec3::new(2.0, -2.0, 6.0));
    assert_eq!(sample(&clip, 2.5).scale, Vec3::new(6.0, 2.0, 2.0));
}

#[test]
fn splines_follow_their_tangents() {
    // x³ over 1..3 in a spline's own terms: it must be met everywhere, for it is a cubic.
    let (cube, slope) = (
        |x: f32| Vec3::splat(x.powi(3)),
        |x: f32| Vec3::splat(3.0 * x * x),
    );
    let values: Vec<_> = [1.0, 3.0]
        .into_iter()
        .flat_map(|x| [slope(x), cube(x), slope(x)])
        .collect();
    let clip = translations(CubicSpline, &[1.0, 3.0], &values);
    for step in 0..=64 {
        let x = 1.0 + 2.0 * f64::from(step) / 64.0;
        let got = f64::from(sample(&clip, x).translation.x);
        assert!((got - x.powi(3)).abs() < 1e-5, "{x}: {got}");
    }
}

#[test]
fn rotations_turn_at_constant_speed() {
    let mut rng = Rng::new(11);
    for angle in [1e-7, 1e-5, 1e-3, 0.1, 1.0, 1.57, 2.5, 3.0, 3.1, 3.13] {
        for _ in 0..50 {
            let (start, axis) = (wide(rng.rotation()).normalize(), rng.direction());
            let axis = DVec3::new(axis.x.into(), axis.y.into(), axis.z.into()).normalize();
            let at = |u: f64| DQuat::from_axis_angle(axis, u * angle) * start;
            let narrow = |q: DQuat| Quat::from_array(q.to_array().map(|v| v as f32));
            let clip = rotations(Linear, &[0.0, 1.0], &[narrow(at(0.0)), narrow(at(1.0))]);
            for u in [0.0, 0.125, 0.3, 0.5, 0.875, 1.0] {
                let got = sample(&clip, u).rotation;
                // Near half a turn, the keys' own rounding tilts the axis.
                assert!(
                    between(got, at(u)) < 1e-6,
                    "{angle} {u}: {}",
                    between(got, at(u))
                );
                assert!((wide(got).length() - 1.0).abs() < 2e-7);
            }
        }
    }
}

/// The rotation between two unit keys, in `f64`: from the one, a part of the way on the shortest
/// arc.
fn turned(from: Quat, to: Quat, u: f64) -> DQuat {
    let (from, to) = (wide(from).normalize(), wide(to).normalize());
    let turn = from.conjugate() * if from.dot(to) < 0.0 { -to } else { to };
    let angle = turn.xyz().length().atan2(turn.w);
    let axis = turn.xyz().normalize_or_zero() * (u * angle).sin();
    from * DQuat::from_xyzw(axis.x, axis.y, axis.z, (u * angle).cos())
}

#[test]
fn every_part_of_every_turn_is_met_to_a_millionth() {
    let mut rng = Rng::new(12);
    let mut worst = 0.0_f64;
    // Up to just under half a turn, where the keys' last bits decide which arc is the shorter.
    for step in 0..4000 {
        let angle = step as f32 / 4000.0 * std::f32::consts::PI;
        let from = rng.rotation();
        let to = from * Quat::from_axis_angle(rng.direction(), angle);
        let clip = rotations(Linear, &[0.0, 1.0], &[from, to]);
        for part in 0..=32 {
            let u = f64::from(part) / 32.0;
            let off = between(sample(&clip, u).rotation, turned(from, to, u));
            worst = worst.max(off);
        }
    }
    assert!(worst < 1e-6, "off by {worst:e} rad");
    println!("off by {worst:e} rad at most");
}

#[test]
fn the_sign_of_a_key_does_not_matter() {
    let mut rng = Rng::new(13);
    for _ in 0..200 {
        let (a, b) = (rng.rotation(), rng.rotation());
        let one = rotations(Linear, &[0.0, 1.0], &[a, b]);
        let other = rotations(Linear, &[0.0, 1.0], &[a, -b]);
        for u in [0.1, 0.5, 0.8] {
            assert_eq!(sample(&one, u).rotation, sample(&other, u).rotation);
        }
    }
}

#[test]
fn equal_and_opposite_keys_stand_still() {
    let mut rng = Rng::new(17);
    for _ in 0..200 {
        let a = rng.rotation();
        for b in [a, -a] {
            let clip = rotations(Linear, &[0.0, 1.0], &[a, b]);
            for u in [0.0, 1e-9, 0.25, 0.5, 0.99] {
                assert!(between(sample(&clip, u).rotation, wide(a)) < 3e-7);
            }
        }
    }
}

#[test]
fn half_a_turn_goes_one_way_or_the_other() {
    let from = Quat::IDENTITY;
    let to = Quat::from_xyzw(0.0, 1.0, 0.0, 0.0);
    let clip = rotations(Linear, &[0.0, 1.0], &[from, to]);
    for u in [0.25, 0.5, 0.75] {
        let got = sample(&clip, u).rotation;
        assert!((between(got, wide(from)) - u * std::f64::consts::PI).abs() < 1e-6);
        assert!((between(got, wide(to)) - (1.0 - u) * std::f64::consts::PI).abs() < 1e-6);
    }
}

#[test]
fn rotations_are_of_unit_length_whatever_the_spline() {
    let zero = Quat::from_xyzw(0.0, 0.0, 0.0, 0.0);
    let huge = Quat::from_xyzw(1e38, -1e38, 0.0, 1e38);
    let tiny = Quat::from_xyzw(1e-38, 0.0, 1e-38, 0.0);
    let a = Quat::IDENTITY;
    for values in [
        [zero, a, zero, zero, -a, zero],
        [zero, a, huge, huge, a, zero],
        [zero, tiny, zero, zero, tiny, zero],
        [zero, zero, zero, zero, zero, zero],
    ] {
        let clip = rotations(CubicSpline, &[0.0, 1.0], &values);
        for step in 0..=16 {
            let got = sample(&clip, f64::from(step) / 16.0).rotation;
            assert!((wide(got).length() - 1.0).abs() < 1e-6, "{values:?}: {got}");
        }
    }
}

#[test]
fn time_stays_fine_in_long_clips() {
    // A quarter of an hour in, between keys a thousandth of a second apart.
    let times = [900.0, 900.001];
    let clip = translations(Linear, &times, &[Vec3::ZERO, Vec3::X]);
    let (start, length) = (
        f64::from(times[0]),
        f64::from(times[1]) - f64::from(times[0]),
    );
    for step in 0..=100 {
        let u = f64::from(step) / 100.0;
        let got = f64::from(sample(&clip, start + u * length).translation.x);
        assert!((got - u).abs() < 1e-6, "{u}: {got}");
    }
}

#[test]
fn only_what_a_track_drives_is_written() {
    let character = chain(3);
    let track = |joint, values| Track { joint, values };
    let tracks = vec![
        track(
            Id::new(2),
            TrackValues::Scale(keys(Step, [0.0], [Vec3::splat(2.0)])),
        ),
        track(
            Id::new(1),
            TrackValues::Translation(keys(Step, [0.0], [Vec3::Z])),
        ),
    ];
    let clip = CurveClip::new("some", tracks, character.skeleton()).unwrap();
    let before = Transform {
        translation: Vec3::splat(7.0),
        rotation: Quat::from_xyzw(0.6, 0.8, 0.0, 0.0),
        scale: Vec3::splat(3.0),
    };
    let mut local = [before; 3];
    clip.sample(0.0, &mut local).unwrap();
    assert_eq!(local[0], before);
    assert_eq!(
        local[1],
        Transform {
            translation: Vec3::Z,
            ..before
        }
    );
    assert_eq!(
        local[2],
        Transform {
            scale: Vec3::splat(2.0),
            ..before
        }
    );

    let mut short = [before; 2];
    let error = clip.sample(0.0, &mut short).unwrap_err();
    let missing = Error::NotFound {
        what: "joint",
        index: 2,
        count: 2,
    };
    assert_eq!(error, missing);
    assert_eq!(short, [before; 2], "nothing is written on an error");
}
