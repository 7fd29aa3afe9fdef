//! Pieces of motion: over any time, repeated, blended, applied, for many instances.

use super::made::{self, matrix};
use crate::reference::maths::{IDENTITY, M4, mul};
use crate::reference::raws;
use crate::reference::rig;
use crate::reference::rng::Rng;
use crate::reference::words::Fails;
use bytemuck::Zeroable;
use core::f64::consts::{PI, TAU};
use throng::animator::PlayRecord;
use throng::character::RootMotionDesc;
use throng::clip::{CurveClip, Interpolation};
use throng::glam::{Affine3A, DVec3, Quat, Vec3};
use throng::motion::{LoopMode, RootMotion, RootTransform};

const LOOPINGS: [LoopMode; 3] = [LoopMode::Loop, LoopMode::Once, LoopMode::PingPong];
const DAY_S: f64 = 86_400.0;

/// A walk in curves: translated and turned.
fn walk(seed: u64) -> RootMotion {
    let mut rng = Rng::new(seed);
    let character = rig::unpacked_chain(2);
    let end_s = rng.range(0.5, 1.7);
    let mut tracks = vec![raws::track(
        0,
        made::translation(&mut rng, Interpolation::Linear, end_s),
    )];
    if !seed.is_multiple_of(4) {
        tracks.push(raws::track(
            0,
            made::rotation(&mut rng, Interpolation::Linear, end_s),
        ));
    }
    let clip = CurveClip::new("walk", tracks, character.skeleton()).unwrap();
    let desc = RootMotionDesc {
        axes: "xyz".into(),
        ..RootMotionDesc::default()
    };
    made::extract(&character, &clip, &desc).unwrap().1
}

fn difference(a: &M4, b: &M4) -> f64 {
    let mut worst: f64 = 0.0;
    for (a, b) in a.iter().flatten().zip(b.iter().flatten()) {
        worst = worst.max((a - b).abs());
    }
    worst
}

/// The inverse of a turn and a translation.
fn rigid_inverse(m: &M4) -> M4 {
    let mut out = IDENTITY;
    for row in 0..3 {
        for column in 0..3 {
            out[row][column] = m[column][row];
        }
        out[row][3] = -(0..3).map(|k| m[k][row] * m[k][3]).sum::<f64>();
    }
    out
}

/// The motion up to an unwrapped time of at least 0, pass by pass.
fn walked(motion: &RootMotion, time_s: f64) -> M4 {
    let d = motion.duration_s();
    let pass = mul(
        &rigid_inverse(&matrix(&motion.at(0.0))),
        &matrix(&motion.at(d)),
    );
    let mut all = IDENTITY;
    let mut left = time_s;
    while left >= d {
        all = mul(&all, &pass);
        left -= d;
    }
    let rest = mul(
        &rigid_inverse(&matrix(&motion.at(0.0))),
        &matrix(&motion.at(left)),
    );
    mul(&all, &rest)
}

#[test]
fn loops_are_the_product_of_passes() {
    let mut rng = Rng::new(5);
    for seed in 0..40 {
        let motion = walk(seed);
        for _ in 0..20 {
            let from = f64::from(rng.range(0.0, 60.0));
            let to = f64::from(rng.range(0.0, 60.0));
            let expected = mul(&rigid_inverse(&walked(&motion, from)), &walked(&motion, to));
            let got = matrix(&motion.delta(from, to, LoopMode::Loop));
            // Up to 120 products of matrices, at distances of up to 200 m.
            let off = difference(&got, &expected);
            assert!(off < 1e-10, "seed {seed}, {from}..{to}: {off}");
        }
    }
}

#[test]
fn repeating_is_a_closed_form() {
    let yaws = [
        0.0,
        1e-300,
        1e-12,
        -1e-9,
        1e-4,
        0.3,
        -1.0,
        PI,
        -PI,
        3.0,
        TAU,
        TAU + 1e-9,
        3.0 * TAU,
        7.7,
    ];
    for yaw_rad in yaws {
        let one = RootTransform {
            translation: DVec3::new(0.3, -0.2, 1.1),
            yaw_rad,
        };
        let (m, back) = (matrix(&one), matrix(&one.inverse()));
        assert!(difference(&back, &rigid_inverse(&m)) < 1e-15);
        let (mut forth, mut reverse) = (IDENTITY, IDENTITY);
        for count in 0..300 {
            for (expected, count) in [(&forth, f64::from(count)), (&reverse, -f64::from(count))] {
                let got = matrix(&one.repeated(count));
                let off = difference(&got, expected);
                // Each of 300 products rounds what is up to 350 m by 6e-14 m.
                assert!(off < 3e-11, "{yaw_rad} × {count}: {off}");
            }
            forth = mul(&forth, &m);
            reverse = mul(&reverse, &back);
        }
    }
}

#[test]
fn spans_compose_wherever_they_are_cut() {
    let mut rng = Rng::new(6);
    let mut worst: f64 = 0.0;
    for seed in 0..40 {
        let motion = walk(seed);
        for _ in 0..100 {
            let near = [0.0, DAY_S, 30.0 * DAY_S, -30.0 * DAY_S];
            let mut at = || near[rng.below(4)] + f64::from(rng.range(-20.0, 20.0));
            let (a, b, c) = (at(), at(), at());
            for loop_mode in LOOPINGS {
                let whole = motion.delta(a, c, loop_mode);
                let (first, second) =
                    (motion.delta(a, b, loop_mode), motion.delta(b, c, loop_mode));
                let parts = first.then(&second);
                // A yaw of `y` is known to 2e-16 y, which at the far end of a way of `l` metres is
                // 2e-16 y l.
                let yaw = first.yaw_rad.abs().max(second.yaw_rad.abs()) + 10.0;
                let way = first.translation.length() + second.translation.length() + 10.0;
                let off = (whole.translation - parts.translation).length() / (2e-15 * yaw * way);
                let turn = (whole.yaw_rad - parts.yaw_rad).abs() / (1e-15 * yaw);
                worst = worst.max(off).max(turn);
            }
        }
    }
    println!("worst {worst}");
    assert!(worst < 1.0, "{worst}");
}

#[test]
fn thirty_days_in_one_step_are_the_sum_of_small_ones() {
    for seed in [0, 1, 2, 4, 5] {
        let motion = walk(seed);
        for (frames, step_s) in [(216_000, 1.0 / 60.0), (518_400, 5.0), (-518_400, 5.0)] {
            let sign = f64::from(i32::signum(frames));
            let mut place = RootTransform::default();
            let (mut now, mut farthest) = (0.0, 0.0_f64);
            for frame in 1..=i32::abs(frames) {
                let next = sign * f64::from(frame) * step_s;
                place.advance(&motion.delta(now, next, LoopMode::Loop), 1.0);
                now = next;
                farthest = farthest.max(place.translation.length());
            }
            let whole = motion.delta(0.0, now, LoopMode::Loop);
            let way = motion.pass().translation.length() * (now / motion.duration_s()).abs();
            let off = place.translation.distance(whole.translation);
            // A step rounds the position by 1.1e-16 of where it is, and the yaw by 5e-16 rad: this
            // much if all went one way. Turns mostly cancel out.
            let steps = f64::from(i32::abs(frames));
            let bound = steps * 1.2e-16 * farthest + 1e-12 * way + 1e-9;
            println!("seed {seed}: {off} m of {way} m, bound {bound}");
            assert!(
                off < bound,
                "seed {seed}: {off} m of {way} m, at most {farthest} m away"
            );
            let turns = (whole.yaw_rad - place.yaw_rad) / TAU;
            assert!((turns - turns.round()).abs() < 1e-8, "{turns}");
        }
    }
}

#[test]
fn once_stops_and_ping_pong_comes_back() {
    let motion = walk(3);
    let d = motion.duration_s();
    let once = motion.delta(-5.0, 9.0, LoopMode::Once);
    assert!(difference(&matrix(&once), &matrix(&motion.pass())) < 1e-14);
    assert_eq!(
        motion.delta(d, 9.0, LoopMode::Once).translation.length(),
        0.0
    );
    let there = motion.delta(0.0, d, LoopMode::PingPong);
    assert!(difference(&matrix(&there), &matrix(&motion.pass())) < 1e-14);
    for passes in [2.0, 4.0, -6.0, 1e6] {
        let back = motion.delta(0.25 * d, (0.25 + passes) * d, LoopMode::PingPong);
        // The time is off by what 1e6 passes round it by.
        assert!(
            back.translation.length() < 1e-8 && back.yaw_rad.abs() < 1e-8,
            "{back:?}"
        );
    }
}

#[test]
fn records_walk_as_far_late_as_early() {
    let motion = walk(1);
    let walked = |start_s: f64| {
        let record = PlayRecord {
            anchor_s: start_s,
            from_speed: 0.8,
            to_speed: 0.8,
            ..Zeroable::zeroed()
        };
        let [from_s, to_s] = [1.25, 7.5].map(|since_s| record.unwrapped_s(start_s + since_s));
        matrix(&motion.delta(from_s, to_s, LoopMode::Loop))
    };
    for start_s in [DAY_S, 30.0 * DAY_S] {
        // Seconds after the start are exact here.
        assert_eq!(walked(start_s), walked(0.0));
        // The same part of a cycle, this many cycles later. Times are rounded by 2.4e-10 s at up to
        // 40 m/s and rad/s.
        let passes = (start_s / motion.duration_s()).round() * motion.duration_s();
        let late = matrix(&motion.delta(passes + 0.25, passes + 3.5, LoopMode::Loop));
        let early = matrix(&motion.delta(0.25, 3.5, LoopMode::Loop));
        assert!(difference(&late, &early) < 1e-7);
    }
}

#[test]
fn blends_are_weighted_means() {
    let (walk, run) = (
        RootTransform {
            translation: DVec3::new(0.0, 0.0, 1.0),
            yaw_rad: 0.1,
        },
        RootTransform {
            translation: DVec3::new(1.0, 0.0, 4.0),
            yaw_rad: -0.3,
        },
    );
    let blend = RootTransform::blend(&[walk, run], &[3.0, 1.0]).unwrap();
    assert!(blend.translation.distance(DVec3::new(0.25, 0.0, 1.75)) < 1e-15);
    assert!((blend.yaw_rad - 0.0).abs() < 1e-15);
    assert_eq!(
        RootTransform::blend(&[run, run, walk], &[0.3, 0.7, 0.0]).unwrap(),
        run
    );
    assert_eq!(
        RootTransform::blend(&[], &[]).unwrap(),
        RootTransform::IDENTITY
    );
    assert_eq!(
        RootTransform::blend(&[walk], &[0.0]).unwrap(),
        RootTransform::IDENTITY
    );
    let huge = RootTransform::blend(&[run; 2], &[f32::MAX; 2]).unwrap();
    assert_eq!(huge, run);
    for weight in [f32::NAN, f32::INFINITY, -1.0] {
        let error = RootTransform::blend(&[walk, run], &[1.0, weight]).unwrap_err();
        assert!(
            matches!(error, throng::Error::At { index: 1, .. }),
            "{error}"
        );
    }
    RootTransform::blend(&[walk, run], &[1.0]).fails("weights: has 1 elements, needs 2");
}

#[test]
fn synchronised_blends_agree_at_any_frame_rate() {
    // Two clips stretched to one phase. The error of a frame's blend grows with the square of its
    // difference in yaw.
    let (a, b) = (walk(5), walk(6));
    let walked = |frames: i32| {
        let mut place = RootTransform::default();
        for frame in 0..frames {
            let at = |frame: i32| 10.0 * f64::from(frame) / f64::from(frames);
            let piece = |motion: &RootMotion| {
                let d = motion.duration_s();
                motion.delta(at(frame) * d, at(frame + 1) * d, LoopMode::Loop)
            };
            place.advance(
                &RootTransform::blend(&[piece(&a), piece(&b)], &[0.4, 0.6]).unwrap(),
                1.0,
            );
        }
        place
    };
    let exact = walked(256_000);
    let (coarse, fine) = (walked(2_000), walked(4_000));
    let off = |place: RootTransform| place.translation.distance(exact.translation);
    // Halving the frame halves the error, which is millimetres in tens of metres.
    assert!(
        off(fine) < 0.6 * off(coarse),
        "{} {}",
        off(coarse),
        off(fine)
    );
    assert!(off(fine) < 0.02, "{}", off(fine));
    assert!((coarse.yaw_rad - exact.yaw_rad).abs() < 1e-9);
}

#[test]
fn transforms_are_moved_by_the_motion() {
    let mut rng = Rng::new(8);
    for _ in 0..200 {
        let delta = RootTransform {
            translation: rng.vector(-2.0, 2.0).as_dvec3(),
            yaw_rad: rng.range(-4.0, 4.0).into(),
        };
        let scale = Vec3::splat(rng.range(0.3, 3.0));
        let (turn, at) = (rng.rotation(), rng.vector(-50.0, 50.0));
        let instance = Affine3A::from_scale_rotation_translation(scale, turn, at);
        let wide = |affine: &Affine3A| -> M4 {
            let c = affine.to_cols_array().map(f64::from);
            let row = |r: usize| [c[r], c[3 + r], c[6 + r], c[9 + r]];
            [row(0), row(1), row(2), [0.0, 0.0, 0.0, 1.0]]
        };
        let expected = mul(&wide(&instance), &matrix(&delta));
        // One rounding to `f32` of up to 60 m.
        assert!(difference(&wide(&delta.apply(&instance)), &expected) < 4e-6);
    }
}

#[test]
fn a_world_transform_does_not_drift() {
    let step = RootTransform {
        translation: DVec3::new(0.0, 0.0, 0.02),
        yaw_rad: 0.013,
    };
    let mut place = RootTransform::default();
    for _ in 0..1_000_000 {
        place.advance(&step, 1.5);
    }
    let whole = step.repeated(1e6);
    let turns = (place.yaw_rad - whole.yaw_rad) / TAU;
    assert!((turns - turns.round()).abs() < 1e-9);
    assert!(place.translation.distance(whole.translation * 1.5) < 1e-7);
    let at = place.world_from_model(place.translation - DVec3::X, Vec3::splat(1.5));
    assert!(Vec3::from(at.translation).distance(Vec3::X) < 1e-6);
    let (_, turn, _) = at.to_scale_rotation_translation();
    assert!(turn.angle_between(Quat::from_rotation_y(place.yaw_rad as f32)) < 1e-3);
}
