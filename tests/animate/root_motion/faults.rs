//! Every input gives an error that names it, or a finite number.

use super::made;
use crate::reference::rig;
use crate::reference::rng::Rng;
use throng::clip::{CurveClip, Interpolation, Track, TrackValues};
use throng::glam::{BVec3, DVec3, Quat, Vec3};
use throng::motion::{LoopMode, RootMotion, RootMotionOptions, RootTransform};
use throng::{Error, Id};

fn clip(joints: usize, tracks: Vec<Track>) -> CurveClip {
    CurveClip::new("clip", tracks, rig::chain(joints).skeleton()).unwrap()
}

fn track(joint: u16, values: TrackValues) -> Track {
    Track {
        joint: Id::new(joint),
        values,
    }
}

fn moving(to: Vec3) -> TrackValues {
    TrackValues::Translation(rig::keys(
        Interpolation::Linear,
        &[0.0, 1.0],
        &[Vec3::ZERO, to],
    ))
}

fn turning() -> TrackValues {
    let to = Quat::from_rotation_y(1.0);
    TrackValues::Rotation(rig::keys(
        Interpolation::Linear,
        &[0.0, 1.0],
        &[Quat::IDENTITY, to],
    ))
}

fn scaled(by: Vec3) -> TrackValues {
    TrackValues::Scale(rig::keys(Interpolation::Linear, &[0.0], &[by]))
}

#[test]
fn what_can_t_be_taken_out_is_refused() {
    let character = rig::chain(3);
    let options = RootMotionOptions::default();
    let extract = |clip: &CurveClip, options| RootMotion::extract(&character, clip, &options);
    let walk = clip(3, vec![track(1, moving(Vec3::ONE)), track(1, turning())]);

    let missing = RootMotionOptions {
        joint: Some(Id::new(3)),
        ..options
    };
    let error = extract(&walk, missing).unwrap_err();
    assert!(
        matches!(
            error,
            Error::NotFound {
                what: "joint",
                index: 3,
                count: 3
            }
        ),
        "{error}"
    );
    let alien = clip(5, vec![track(4, moving(Vec3::ONE))]);
    let error = extract(&alien, options).unwrap_err();
    assert!(matches!(error, Error::NotFound { index: 4, .. }), "{error}");
    for error_m in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let options = RootMotionOptions {
            error_m: Some(error_m),
            ..options
        };
        let error = extract(&walk, options).unwrap_err();
        assert!(
            matches!(
                error,
                Error::Argument {
                    what: "error_m",
                    ..
                }
            ),
            "{error_m}: {error}"
        );
    }

    let on_joint = RootMotionOptions {
        joint: Some(Id::new(1)),
        ..options
    };
    let uneven = vec![
        track(0, scaled(Vec3::new(1.0, 2.0, 3.0))),
        track(1, moving(Vec3::ONE)),
        track(1, turning()),
    ];
    let uneven = clip(3, uneven);
    assert!(matches!(
        extract(&uneven, on_joint),
        Err(Error::Argument { what: "yaw", .. })
    ));
    // Without yaw there is nothing in the way.
    let (_, motion) = extract(
        &uneven,
        RootMotionOptions {
            yaw: false,
            ..on_joint
        },
    )
    .unwrap();
    assert_eq!(motion.pass().translation, DVec3::new(1.0, 0.0, 3.0));

    let flat = clip(
        3,
        vec![
            track(0, scaled(Vec3::new(0.0, 1.0, 1.0))),
            track(1, moving(Vec3::ONE)),
        ],
    );
    for yaw in [true, false] {
        let options = RootMotionOptions { yaw, ..on_joint };
        assert!(matches!(
            extract(&flat, options),
            Err(Error::Argument { .. })
        ));
    }
}

#[test]
fn huge_numbers_are_refused_or_kept_finite() {
    let character = rig::chain(2);
    let far = Vec3::splat(f32::MAX);
    for (from, to) in [(Vec3::ZERO, far), (-far, far)] {
        for yaw in [false, true] {
            let keys = rig::keys(Interpolation::Linear, &[0.0, f32::MAX], &[from, to]);
            let mut tracks = vec![track(0, TrackValues::Translation(keys))];
            if yaw {
                tracks.push(track(0, turning()));
            }
            let clip = clip(2, tracks);
            let options = RootMotionOptions {
                axes: BVec3::TRUE,
                ..RootMotionOptions::default()
            };
            match RootMotion::extract(&character, &clip, &options) {
                Ok((_, motion)) => {
                    for to in [1.0, 1e300, f64::INFINITY, -f64::MAX] {
                        let delta = motion.delta(0.0, to, LoopMode::Loop);
                        assert!(delta.translation.is_finite() && delta.yaw_rad.is_finite());
                    }
                }
                Err(error) => assert!(matches!(error, Error::Argument { .. }), "{error}"),
            }
        }
    }
}

#[test]
fn any_time_gives_a_finite_motion() {
    let mut rng = Rng::new(1);
    let character = rig::chain(2);
    let tracks = vec![
        track(
            0,
            made::translation(&mut rng, Interpolation::CubicSpline, 1.0),
        ),
        track(0, made::rotation(&mut rng, Interpolation::CubicSpline, 1.0)),
    ];
    let clip = clip(2, tracks);
    let (_, motion) =
        RootMotion::extract(&character, &clip, &RootMotionOptions::default()).unwrap();
    let odd = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN,
        5e-324,
        f64::from(f32::MAX),
    ];
    for (from, to) in odd.iter().flat_map(|a| odd.map(|b| (*a, b))) {
        for loop_mode in [LoopMode::Loop, LoopMode::Once, LoopMode::PingPong] {
            let delta = motion.delta(from, to, loop_mode);
            assert!(
                delta.translation.is_finite() && delta.yaw_rad.is_finite(),
                "{from} {to}"
            );
            if from.is_nan() || to.is_nan() || from == to {
                assert_eq!(delta, RootTransform::IDENTITY);
            }
            let mut place = RootTransform::default();
            place.advance(&delta, 1.0);
            assert!(place.yaw_rad.abs() <= core::f64::consts::PI + 1e-9);
        }
    }
    for time in odd {
        assert!(motion.at(time).translation.is_finite());
        for loop_mode in [LoopMode::Loop, LoopMode::Once, LoopMode::PingPong] {
            for duration in [
                0.0,
                -1.0,
                1.5,
                f64::NAN,
                f64::INFINITY,
                5e-324,
                f64::from(f32::MAX),
            ] {
                let at = loop_mode.clip_time_s(time, duration);
                assert!(
                    (0.0..=duration).contains(&at) || at == 0.0,
                    "{time} {duration} {at}"
                );
            }
        }
    }
}

#[test]
fn clips_without_length_or_tracks_are_still() {
    let character = rig::chain(2);
    let options = RootMotionOptions::default();
    let one = TrackValues::Translation(rig::keys(Interpolation::Linear, &[0.0], &[Vec3::ONE]));
    for tracks in [Vec::new(), vec![track(0, one)]] {
        let clip = clip(2, tracks);
        for joint in [None, Some(Id::new(1))] {
            let options = RootMotionOptions { joint, ..options };
            let (stays, motion) = RootMotion::extract(&character, &clip, &options).unwrap();
            assert!(motion.is_still());
            assert_eq!(stays, clip);
            assert_eq!(
                motion.delta(0.0, 9.0, LoopMode::Loop),
                RootTransform::IDENTITY
            );
        }
    }
}

#[test]
fn a_clip_that_would_take_forever_is_refused() {
    // Nearly as many joints in a chain as are allowed, and enough keys to make it slow.
    let character = rig::chain(8_000);
    let times: Vec<f32> = (0..5_000).map(|key| key as f32 * 0.01).collect();
    let turns: Vec<Quat> = (0..5_000)
        .map(|key| Quat::from_rotation_y(key as f32 % 6.0))
        .collect();
    let turning = TrackValues::Rotation(rig::keys(Interpolation::Linear, &times, &turns));
    let clip = CurveClip::new("slow", vec![track(7_999, turning)], character.skeleton()).unwrap();
    let options = RootMotionOptions::default();
    let error = RootMotion::extract(&character, &clip, &options).unwrap_err();
    assert!(matches!(error, Error::Capacity { .. }), "{error}");

    let many: Vec<f32> = (0..150_000).map(|key| key as f32 * 0.01).collect();
    let places: Vec<Vec3> = many.iter().map(|time| Vec3::Z * *time).collect();
    let moving = TrackValues::Translation(rig::keys(Interpolation::Linear, &many, &places));
    let clip = CurveClip::new("long", vec![track(0, moving)], character.skeleton()).unwrap();
    let error = RootMotion::extract(&character, &clip, &options).unwrap_err();
    assert!(
        matches!(error, Error::Capacity { cap: 131_072, .. }),
        "{error}"
    );
}
