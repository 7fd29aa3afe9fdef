//! Every input gives an error that names it, or a finite number.

use super::made;
use crate::reference::raws;
use crate::reference::rig;
use crate::reference::rng::Rng;
use crate::reference::words::{Fails, Says};
use crate::refused::refused;
use throng::Error;
use throng::character::{AnimationDesc, ClipDesc, RootMotionDesc};
use throng::clip::{CurveClip, Interpolation, Track, TrackValues};
use throng::glam::{DVec3, Quat, Vec3};
use throng::motion::{LoopMode, RootTransform};

fn clip(joints: usize, tracks: Vec<Track>) -> CurveClip {
    CurveClip::new("clip", tracks, rig::chain(joints).skeleton()).unwrap()
}

fn track(joint: u16, values: TrackValues) -> Track {
    raws::track(joint, values)
}

fn moving(to: Vec3) -> TrackValues {
    TrackValues::Translation(rig::keys(
        Interpolation::Linear,
        [0.0, 1.0],
        [Vec3::ZERO, to],
    ))
}

fn turning() -> TrackValues {
    let to = Quat::from_rotation_y(1.0);
    TrackValues::Rotation(rig::keys(
        Interpolation::Linear,
        [0.0, 1.0],
        [Quat::IDENTITY, to],
    ))
}

fn scaled(by: Vec3) -> TrackValues {
    TrackValues::Scale(rig::keys(Interpolation::Linear, [0.0], [by]))
}

#[test]
fn what_can_t_be_taken_out_is_refused() {
    let character = rig::unpacked_chain(3);
    let extract = |clip: &CurveClip, desc: &RootMotionDesc| made::extract(&character, clip, desc);
    let on_joint = RootMotionDesc {
        joint: Some(made::joint(1)),
        ..RootMotionDesc::default()
    };
    let uneven = vec![
        track(0, scaled(Vec3::new(1.0, 2.0, 3.0))),
        track(1, moving(Vec3::ONE)),
        track(1, turning()),
    ];
    let uneven = clip(3, uneven);
    refused(extract(&uneven, &on_joint)).says("yaw: …");
    // Without yaw there is nothing in the way.
    let without_yaw = RootMotionDesc {
        yaw: false,
        ..on_joint.clone()
    };
    let (_, motion) = extract(&uneven, &without_yaw).unwrap();
    assert_eq!(motion.pass().translation, DVec3::new(1.0, 0.0, 3.0));

    let flat = clip(
        3,
        vec![
            track(0, scaled(Vec3::new(0.0, 1.0, 1.0))),
            track(1, moving(Vec3::ONE)),
        ],
    );
    for desc in [&on_joint, &without_yaw] {
        let error = refused(extract(&flat, desc));
        assert!(matches!(error, Error::Argument { .. }), "{error}");
    }
}

#[test]
fn huge_numbers_are_refused_or_kept_finite() {
    let character = rig::unpacked_chain(2);
    let far = Vec3::splat(f32::MAX);
    for (from, to) in [(Vec3::ZERO, far), (-far, far)] {
        for yaw in [false, true] {
            let keys = rig::keys(Interpolation::Linear, [0.0, f32::MAX], [from, to]);
            let mut tracks = vec![track(0, TrackValues::Translation(keys))];
            if yaw {
                tracks.push(track(0, turning()));
            }
            let clip = clip(2, tracks);
            let desc = RootMotionDesc {
                axes: "xyz".into(),
                ..RootMotionDesc::default()
            };
            match made::extract(&character, &clip, &desc) {
                Ok((_, motion)) => {
                    for to in [1.0, 1e300, f64::INFINITY, -f64::MAX] {
                        let delta = motion.delta(0.0, to, LoopMode::Loop);
                        assert!(delta.translation.is_finite() && delta.yaw_rad.is_finite());
                    }
                }
                // The clip is too large for a character, or its motion for `f32`.
                Err(Error::Argument { .. } | Error::At { .. }) => {}
                other => {
                    let error = refused(other);
                    assert!(matches!(error, Error::Argument { .. }), "{error}");
                }
            }
        }
    }
}

#[test]
fn any_time_gives_a_finite_motion() {
    let mut rng = Rng::new(1);
    let character = rig::unpacked_chain(2);
    let tracks = vec![
        track(
            0,
            made::translation(&mut rng, Interpolation::CubicSpline, 1.0),
        ),
        track(0, made::rotation(&mut rng, Interpolation::CubicSpline, 1.0)),
    ];
    let clip = clip(2, tracks);
    let (_, motion) = made::extract(&character, &clip, &RootMotionDesc::default()).unwrap();
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
    let character = rig::unpacked_chain(2);
    let one = TrackValues::Translation(rig::keys(Interpolation::Linear, [0.0], [Vec3::ONE]));
    for tracks in [Vec::new(), vec![track(0, one)]] {
        let clip = clip(2, tracks);
        for joint in [None, Some(made::joint(1))] {
            let desc = RootMotionDesc {
                joint,
                ..RootMotionDesc::default()
            };
            let (stays, motion) = made::extract(&character, &clip, &desc).unwrap();
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
    let character = rig::unpacked_chain(8_000);
    let times: Vec<f32> = (0..5_000).map(|key| key as f32 * 0.01).collect();
    let turns: Vec<Quat> = (0..5_000)
        .map(|key| Quat::from_rotation_y(key as f32 % 6.0))
        .collect();
    let turning = TrackValues::Rotation(rig::keys(Interpolation::Linear, &times, &turns));
    let clip = CurveClip::new("slow", vec![track(7_999, turning)], character.skeleton()).unwrap();
    let desc = RootMotionDesc::default();
    refused(made::extract(&character, &clip, &desc)).says("…: … requested, at most … allowed");

    let many: Vec<f32> = (0..150_000).map(|key| key as f32 * 0.01).collect();
    let positions: Vec<Vec3> = many.iter().map(|time| Vec3::Z * *time).collect();
    let moving = TrackValues::Translation(rig::keys(Interpolation::Linear, &many, &positions));
    let clip = CurveClip::new("long", vec![track(0, moving)], character.skeleton()).unwrap();
    refused(made::extract(&character, &clip, &desc)).says("…: … requested, at most 131072 allowed");
}

/// The clips of a description share a budget, and are refused once earlier ones have used it up.
#[test]
fn many_clips_share_a_budget() {
    const KEYS: usize = 131_072;
    let times: Vec<f32> = (0..KEYS).map(|key| key as f32 * 0.01).collect();
    let positions: Vec<Vec3> = times.iter().map(|time| Vec3::Z * *time).collect();
    let moving = TrackValues::Translation(rig::keys(Interpolation::Linear, &times, &positions));
    let long = clip(1, vec![track(0, moving)]);
    // 32 clips have as many keys as 4 clips may have.
    for (count, fits) in [(32, true), (33, false)] {
        let names: Vec<String> = (0..count).map(|index| index.to_string()).collect();
        let clips = names.iter().map(|name| long.clone().with_name(name));
        let character = rig::unpacked_chain(1).with_clips(clips.collect()).unwrap();
        let desc = AnimationDesc {
            clips: names
                .into_iter()
                .map(|name| ClipDesc {
                    name,
                    root_motion: Some(RootMotionDesc {
                        yaw: false,
                        ..RootMotionDesc::default()
                    }),
                    ..ClipDesc::default()
                })
                .collect(),
            ..AnimationDesc::default()
        };
        let split = character.with_animation(&desc);
        if fits {
            assert!(split.is_ok(), "{split:?}");
        } else {
            split.fails("…\"32\"…keys of all root motions…");
        }
    }
}
