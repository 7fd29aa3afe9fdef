//! References that are refused.

use super::made::{rest, sine_clip};
use crate::reference::rig;
use crate::refused::refused;
use throng::Error;
use throng::character::PoseReference;
use throng::clip::Interpolation;
use throng::glam::Vec3;
use throng::skeleton::Transform;

type Change = fn(&mut Transform);
type Is = fn(&Error) -> bool;

/// Each row changes a joint of the reference. `None`: the reference is accepted.
#[test]
fn references_are_refused_by_joint() {
    let character = rig::unpacked_chain(3);
    let curves = sine_clip(&character, Interpolation::Linear);
    let make = |pose: &[Transform]| {
        let clips = vec![rig::held(character.skeleton(), pose), curves.clone()];
        let frame = PoseReference::Frame {
            clip: "held".into(),
            time_s: 0.0,
        };
        rig::additive(character.clone().with_clips(clips)?, frame)
    };
    let flat: Is = |error| error.to_string() == "joint 1: reference: has a scale of 0";
    let argument: Is = |error| matches!(error, Error::Argument { .. });
    let rows: [(&str, usize, Change, Option<Is>); 3] = [
        ("a scale of 0", 1, |t| t.scale.z = 0.0, Some(flat)),
        (
            "a tiny scale",
            1,
            |t| t.scale = Vec3::splat(f32::from_bits(1)),
            Some(argument),
        ),
        // A property without a track has no difference that could fail.
        ("a scale without a track", 2, |t| t.scale = Vec3::ZERO, None),
    ];
    for (row, joint, change, is_reason) in rows {
        let mut pose = rest(&character);
        change(&mut pose[joint]);
        match (make(&pose), is_reason) {
            (Ok(_), None) => {}
            (made @ Err(_), Some(is)) => {
                let error = refused(made);
                assert!(is(&error), "{row}: {error}");
            }
            (other, _) => panic!("{row}: {other:?}"),
        }
    }
    // Its difference may be too large for a clip. It does not panic.
    let mut far = rest(&character);
    far[1].translation = Vec3::splat(1e18);
    let _ = make(&far);
}
