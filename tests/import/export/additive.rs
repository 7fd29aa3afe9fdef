//! Additive clips, and clips of unusual form.

use super::{again, exported};
use crate::reference::raws;
use crate::reference::rig;
use throng::Result;
use throng::character::{AdditiveDesc, AnimationDesc, PoseReference};
use throng::clip::{CurveClip, Interpolation, TrackValues};
use throng::glam::{Quat, Vec3};
use throng::import::{ImportOptions, RawCharacter};
use throng::skeleton::Transform;
use throng_export::Omission;

fn additive(options: ImportOptions) -> Result<throng::import::Imported> {
    let desc = AnimationDesc {
        additive: vec![AdditiveDesc {
            name: Some("Nod".into()),
            clip: "Wave".into(),
            reference: PoseReference::Start,
        }],
        ..AnimationDesc::default()
    };
    let options = ImportOptions {
        animation: Some(desc),
        ..options
    };
    RawCharacter::mannequin().build(&options)
}

/// The file has the pose on top of the rest pose; the description makes the difference again.
#[test]
fn additive_clips_are_differences_again() {
    for options in [ImportOptions::default(), with_curves()] {
        let was = additive(options.clone()).unwrap();
        let exported = exported(&was);
        let is = again(&exported, options);
        let clip = was.clip("Nod").unwrap().index();
        assert_eq!(is.clip("Nod").unwrap().index(), clip);
        let mut alone = exported.clone();
        alone.description = AnimationDesc::default();
        let absolute = again(&alone, ImportOptions::default());
        assert!(is.clips()[clip].is_additive() && !absolute.clips()[clip].is_additive());
        let joints = was.skeleton().joints();
        for time_s in [0.0, 0.31, 1.27] {
            let [mut before, mut after, mut pose] = [0; 3].map(|_| was.skeleton().rest_pose());
            was.clips()[clip].sample(time_s, &mut before).unwrap();
            is.clips()[clip].sample(time_s, &mut after).unwrap();
            absolute.clips()[clip].sample(time_s, &mut pose).unwrap();
            for (index, joint) in joints.iter().enumerate() {
                let (a, b) = (before[index], after[index]);
                // Twice the quantisation of packed rotations, measured: 4e-4.
                assert!(
                    a.rotation.dot(b.rotation).abs() > 1.0 - 1e-6,
                    "{}",
                    joint.name
                );
                assert!(
                    a.translation.distance(b.translation) < 2e-4,
                    "{}",
                    joint.name
                );
                let on_top = joint.rest.rotation * a.rotation;
                assert!(
                    on_top.dot(pose[index].rotation).abs() > 1.0 - 1e-6,
                    "{}",
                    joint.name
                );
            }
        }
    }
}

/// The mannequin with one more clip.
fn with(clip: CurveClip) -> throng::character::Character {
    let mannequin = RawCharacter::mannequin().build(&with_curves());
    mannequin.unwrap().character.with_clips(vec![clip]).unwrap()
}

#[test]
fn a_clip_without_tracks_keeps_its_duration() {
    let mannequin = throng::builtin::mannequin().unwrap();
    for (start_s, end_s) in [(0.0, 2.5), (0.5, 0.5), (0.0, 0.0)] {
        let pause = CurveClip::new("Pause", Vec::new(), mannequin.skeleton()).unwrap();
        let was = with(pause.with_range(start_s, end_s).unwrap());
        let is = again(&exported(&was), with_curves());
        let clip = is.clip("Pause").unwrap();
        let curves = &is.curves()[clip.index()];
        assert_eq!((curves.start_s(), curves.duration_s()), (start_s, end_s));
        let mut local = vec![Transform::IDENTITY; is.skeleton().len()];
        is.clips()[clip.index()].sample(0.4, &mut local).unwrap();
        assert_eq!(local, was.skeleton().rest_pose());
    }
}

/// Tracks that do not reach the ends of the clip hold their first and last values there.
#[test]
fn short_tracks_keep_the_range() {
    let mannequin = throng::builtin::mannequin().unwrap();
    let turned = |angle| Quat::from_rotation_y(angle);
    let tangent = Quat::from_xyzw(0.0, 2.0, 0.0, 1.0);
    for (interpolation, values) in [
        (Interpolation::Step, vec![turned(0.2), turned(1.0)]),
        (Interpolation::Linear, vec![turned(0.2), turned(1.0)]),
        (
            Interpolation::CubicSpline,
            vec![tangent, turned(0.2), tangent, tangent, turned(1.0), tangent],
        ),
    ] {
        let keys = rig::keys(interpolation, [0.5, 1.0], values);
        let track = raws::track(3, TrackValues::Rotation(keys));
        let clip = CurveClip::new("Turn", vec![track], mannequin.skeleton()).unwrap();
        let was = with(clip.with_range(0.25, 3.0).unwrap());
        let is = again(&exported(&was), with_curves());
        let clip = is.clip("Turn").unwrap().index();
        let curves = [&was, &is.character].map(|of| &of.curves()[clip]);
        assert_eq!((curves[1].start_s(), curves[1].duration_s()), (0.25, 3.0));
        for time_s in [0.0, 0.3, 0.5, 0.61, 0.75, 0.99, 1.0, 1.5, 2.9] {
            let rotations = curves.map(|curves| {
                let mut local = was.skeleton().rest_pose();
                curves.sample(time_s, &mut local).unwrap();
                local[3].rotation
            });
            let [a, b] = rotations;
            assert!(
                a.abs_diff_eq(b, 1e-6),
                "{interpolation:?} at {time_s}: {a} {b}"
            );
        }
    }
}

/// Rotation keys far apart, which packed clips and glTF do not interpolate in the same way.
#[test]
fn fast_turns_stay_within_the_bound() {
    let mannequin = throng::builtin::mannequin().unwrap();
    let keys = rig::keys(
        Interpolation::Linear,
        (0..30).map(|key| key as f32 / 15.0).collect::<Vec<_>>(),
        (0..30)
            .map(|key| Quat::from_rotation_z(key as f32 * 1.5))
            .collect::<Vec<_>>(),
    );
    let track = raws::track(0, TrackValues::Rotation(keys));
    let clip = CurveClip::new("Spin", vec![track], mannequin.skeleton()).unwrap();
    let was = mannequin.character.with_clips(vec![clip]).unwrap();
    assert!(was.curves().is_empty());
    let is = again(&exported(&was), ImportOptions::curves_only());
    let clip = was.clip("Spin").unwrap().index();
    for step in 0..400 {
        let time_s = f64::from(step) * 29.0 / 15.0 / 400.0;
        let [mut before, mut after] = [0; 2].map(|_| was.skeleton().rest_pose());
        was.clips()[clip].sample(time_s, &mut before).unwrap();
        is.curves()[clip].sample(time_s, &mut after).unwrap();
        let [a, b] = [before, after].map(|local| local[0].rotation.as_dquat().normalize());
        let far = 2.0 * (a - b).length().min((a + b).length());
        // Measured: 3e-6 rad. Without keys between the frames, it is 1e-4.
        assert!(far < 1e-5, "{far} rad at {time_s}");
    }
}

#[test]
fn splines_of_other_lengths_are_normalised_and_told() {
    let mannequin = throng::builtin::mannequin().unwrap();
    let none = Quat::from_xyzw(0.0, 0.0, 0.0, 0.0);
    let keys = rig::keys(
        Interpolation::CubicSpline,
        [0.0, 1.0],
        [none, Quat::IDENTITY, none, none, Quat::IDENTITY * 2.0, none],
    );
    let track = raws::track(1, TrackValues::Rotation(keys));
    let one = raws::track(
        2,
        TrackValues::Translation(rig::keys(
            Interpolation::CubicSpline,
            [0.5],
            [Vec3::X, Vec3::Y, Vec3::Z],
        )),
    );
    let clip = CurveClip::new("Odd", vec![track, one], mannequin.skeleton()).unwrap();
    let was = with(clip);
    let exported = exported(&was);
    let told = (Omission::SplineKeysNormalised, 1);
    assert!(
        exported.omissions.contains(&told),
        "{:?}",
        exported.omissions
    );
    let is = again(&exported, with_curves());
    let mut local = is.skeleton().rest_pose();
    let clip = is.clip("Odd").unwrap().index();
    is.curves()[clip].sample(0.9, &mut local).unwrap();
    // A spline of one key is its value.
    assert_eq!(local[2].translation, Vec3::Y);
}

fn with_curves() -> ImportOptions {
    ImportOptions {
        curves: true,
        ..ImportOptions::default()
    }
}
