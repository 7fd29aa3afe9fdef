//! A clip keeps its start and its duration, whatever is taken out of it.

use super::made::{self, CURVES, Poses, axes, extract};
use crate::reference::raws;
use crate::reference::rig;
use crate::reference::rng::Rng;
use throng::character::{AdditiveDesc, AnimationDesc, Character, PoseReference, RootMotionDesc};
use throng::clip::{Clip, ClipOptions};
use throng::clip::{CurveClip, Interpolation, Track, TrackValues};
use throng::glam::{Quat, Vec3};
use throng::motion::LoopMode;
use throng::retarget::{JointMap, Retarget, RetargetOptions};

fn clip(character: &Character, tracks: Vec<Track>) -> CurveClip {
    CurveClip::new("clip", tracks, character.skeleton()).unwrap()
}

fn turn(yaw_rad: f32) -> Quat {
    Quat::from_rotation_y(yaw_rad)
}

/// A root that turns until 1 s, with a translation that is keyed until 2 s and does not move.
fn turns_then_stands(start_s: f32) -> (Character, CurveClip) {
    let character = rig::unpacked_chain(2);
    let turns = rig::keys(Interpolation::Linear, [0.5, 1.0], [turn(0.0), turn(1.0)]);
    let stands = rig::keys(Interpolation::Linear, [start_s, 2.0], [Vec3::X; 2]);
    let tracks = vec![
        raws::track(0, TrackValues::Rotation(turns)),
        raws::track(0, TrackValues::Translation(stands)),
    ];
    let clip = clip(&character, tracks);
    (character, clip)
}

#[test]
fn a_constant_track_holds_the_duration() {
    for start_s in [0.0, 0.25] {
        let (character, clip) = turns_then_stands(start_s);
        let (stays, motion) = extract(&character, &clip, &RootMotionDesc::default()).unwrap();
        assert!(!motion.is_still());
        assert_eq!((stays.start_s(), stays.duration_s()), (start_s, 2.0));
        assert_eq!(motion.duration_s(), 2.0);
        // Ten cycles of 2 s turn by ten radians.
        let delta = motion.delta(0.0, 20.0, LoopMode::Loop);
        assert!((delta.yaw_rad - 10.0).abs() < 1e-5, "{}", delta.yaw_rad);
    }
}

fn random_tracks(rng: &mut Rng, joints: usize) -> Vec<Track> {
    let mut tracks = Vec::new();
    for joint in 0..joints as u16 {
        for property in 0..3 {
            if rng.chance(3) {
                continue;
            }
            let end_s = rng.range(0.2, 3.0);
            let curve = CURVES[rng.below(3)];
            let values = match (property, rng.chance(3)) {
                (0, false) => made::translation(rng, curve, end_s),
                (1, false) => made::rotation(rng, curve, end_s),
                (2, false) => made::even_scale(rng, curve, end_s),
                // Constant, with one key or with two.
                (0, true) => {
                    let at = rng.vector(-1.0, 1.0);
                    TrackValues::Translation(constant(rng, end_s, at))
                }
                (1, true) => {
                    let at = rng.rotation();
                    TrackValues::Rotation(constant(rng, end_s, at))
                }
                _ => TrackValues::Scale(constant(rng, end_s, Vec3::splat(1.5))),
            };
            tracks.push(raws::track(joint, values));
        }
    }
    tracks
}

fn constant<T: Copy>(rng: &mut Rng, end_s: f32, value: T) -> throng::clip::Keys<T> {
    let curve = CURVES[rng.below(2)];
    if rng.chance(2) {
        rig::keys(curve, [end_s], [value])
    } else {
        rig::keys(curve, [rng.range(0.0, 0.5) * end_s, end_s], [value; 2])
    }
}

#[test]
fn no_random_clip_changes_its_range() {
    let mut rng = Rng::new(18);
    let mut moved = 0;
    for round in 0..400 {
        let joints = 1 + rng.below(4);
        let character = rig::unpacked_chain(joints);
        let clip = clip(&character, random_tracks(&mut rng, joints));
        let desc = RootMotionDesc {
            joint: [None, Some(made::joint(rng.below(joints)))][rng.below(2)].clone(),
            axes: axes([rng.chance(2), rng.chance(2), rng.chance(2)]),
            yaw: rng.chance(2),
            reference: [PoseReference::Start, PoseReference::Rest][rng.below(2)].clone(),
            error_m: Some(0.05),
        };
        let (stays, motion) = extract(&character, &clip, &desc).unwrap();
        let range = (clip.start_s(), clip.duration_s());
        assert_eq!((stays.start_s(), stays.duration_s()), range, "{round}");
        assert_eq!(motion.duration_s(), f64::from(range.1), "{round}");
        moved += usize::from(!motion.is_still());
        // Past the last key of all tracks that are left, the pose stands.
        let poses = Poses::new(&character, &stays);
        assert!(poses.at(f64::from(range.1)).len() == joints);
    }
    assert!(moved > 100, "{moved}");
}

#[test]
fn what_is_made_of_the_clip_lasts_as_long() {
    let (character, clip) = turns_then_stands(0.25);
    let (stays, _) = extract(&character, &clip, &RootMotionDesc::default()).unwrap();
    let packed = Clip::new(&character, &stays, &ClipOptions::default()).unwrap();
    assert_eq!(packed.duration_s(), 2.0);
    let additive = AnimationDesc {
        additive: vec![AdditiveDesc {
            name: None,
            clip: "clip".into(),
            reference: PoseReference::Rest,
        }],
        ..AnimationDesc::default()
    };
    let whole = character.clone().with_clips(vec![stays.clone()]).unwrap();
    let added = whole.with_animation(&additive).unwrap();
    let added = &added.curves()[0];
    assert_eq!((added.start_s(), added.duration_s()), (0.25, 2.0));
    let weightless = stays.clone().with_weight_tracks(Vec::new(), 0).unwrap();
    let renamed = weightless.with_name("another");
    assert_eq!((renamed.start_s(), renamed.duration_s()), (0.25, 2.0));
    let options = RetargetOptions::default();
    let skeleton = character.skeleton();
    let map = JointMap::by_names(skeleton, skeleton).unwrap();
    let mut retarget = Retarget::new(skeleton, skeleton, &map, &options).unwrap();
    let (same, _) = retarget.clip(&stays).unwrap();
    assert_eq!((same.start_s(), same.duration_s()), (0.25, 2.0));
}
