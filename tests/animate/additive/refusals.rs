//! References that are refused.

use super::made::{rest, sine_clip};
use crate::reference::rig::chain;
use throng::Error;
use throng::clip::{AdditiveReference, Clip, ClipOptions, Interpolation};
use throng::glam::{Quat, Vec3};
use throng::skeleton::Transform;

type Change = fn(&mut Transform);
type Is = fn(&Error) -> bool;

/// Each row changes a joint of the reference. `None`: the reference is accepted.
#[test]
fn references_are_refused_by_joint() {
    let character = chain(3);
    let curves = sine_clip(&character, Interpolation::Linear);
    let make = |pose: Vec<Transform>| {
        let reference = AdditiveReference::Pose(pose);
        Clip::additive(&character, &curves, &reference, &ClipOptions::default())
    };
    let at_joint: Is = |error| {
        matches!(
            error,
            Error::At {
                what: "joint",
                index: 1,
                ..
            }
        )
    };
    let flat: Is = |error| error.to_string() == "joint 1: reference: has a scale of 0";
    let argument: Is = |error| matches!(error, Error::Argument { .. });
    let rows: [(&str, usize, Change, Option<Is>); 6] = [
        ("a scale of 0", 1, |t| t.scale.z = 0.0, Some(flat)),
        ("NaN", 1, |t| t.translation = Vec3::NAN, Some(at_joint)),
        (
            "no rotation",
            1,
            |t| t.rotation = Quat::from_array([0.0; 4]),
            Some(at_joint),
        ),
        (
            "an infinite scale",
            1,
            |t| t.scale = Vec3::INFINITY,
            Some(at_joint),
        ),
        (
            "a tiny scale",
            1,
            |t| t.scale = Vec3::splat(f32::from_bits(1)),
            Some(argument),
        ),
        // A property without a track has no difference that could fail.
        ("a scale without a track", 2, |t| t.scale = Vec3::ZERO, None),
    ];
    for (row, joint, change, refused) in rows {
        let mut pose = rest(&character);
        change(&mut pose[joint]);
        match (make(pose), refused) {
            (Ok(_), None) => {}
            (Err(error), Some(is)) => assert!(is(&error), "{row}: {error}"),
            (Ok(_), Some(_)) => panic!("{row}: not refused"),
            (Err(error), None) => panic!("{row}: {error}"),
        }
    }
    let short = make(rest(&character)[..2].to_vec());
    assert!(matches!(
        short,
        Err(Error::Argument {
            what: "reference pose",
            ..
        })
    ));
    // Its difference may be too large for a clip. It does not panic.
    let mut far = rest(&character);
    far[1].translation = Vec3::splat(f32::MAX);
    let _ = make(far);
    for time_s in [f64::NAN, f64::INFINITY, f64::MIN] {
        let frame = AdditiveReference::Frame { time_s };
        let made = Clip::additive(&character, &curves, &frame, &ClipOptions::default());
        assert!(made.is_ok(), "{time_s}");
    }
}
