//! Additive clips hold the curves of the file.

use super::made::{Difference, additive, differences, rest, sine_clip};
use crate::models::{Model, mannequin, models};
use crate::reference::compare::joint_nodes;
use crate::reference::rig;
use crate::reference::rng::Rng;
use crate::refused::refused;
use throng::Error;
use throng::character::{Character, PoseReference};
use throng::clip::{Clip, CurveClip, Interpolation, TrackValues};
use throng::glam::{DMat4, DVec3, Quat, Vec3};
use throng::import::{ImportOptions, RawCharacter};
use throng::skeleton::Transform;

/// The error bound of a clip, and the distance from its joint at which it is measured, for a
/// character of 1.8 m.
const ERROR_M: f64 = 1e-4 / 1.8;
const POINT_M: f64 = 0.03 / 1.8;

fn size(character: &Character) -> f64 {
    character.rest_bounds().size().max_element().into()
}

fn same(rest: &Transform, one: &Transform) -> bool {
    one.translation == rest.translation && one.scale == rest.scale && one.rotation == rest.rotation
}

/// A difference put onto a reference, in `f64`.
fn onto(reference: &Transform, difference: &Transform) -> DMat4 {
    DMat4::from_scale_rotation_translation(
        reference.scale.as_dvec3() * difference.scale.as_dvec3(),
        (reference.rotation.as_dquat() * difference.rotation.as_dquat()).normalize(),
        reference.translation.as_dvec3() + difference.translation.as_dvec3(),
    )
}

fn composed(character: &Character, locals: impl Iterator<Item = DMat4>) -> Vec<DMat4> {
    let mut models: Vec<DMat4> = Vec::new();
    for (joint, local) in character.skeleton().joints().iter().zip(locals) {
        models.push(match joint.parent {
            None => local,
            Some(parent) => models[usize::from(parent)] * local,
        });
    }
    models
}

/// The points that are compared: along the axes of each joint, on both sides, at rest.
fn points(character: &Character, at_rest: &[DMat4]) -> Vec<[DVec3; 6]> {
    let of = |model: &DMat4| {
        let [x, y, z] = [0, 1, 2].map(|axis| {
            let length = model.col(axis).truncate().length();
            DVec3::AXES[axis] * POINT_M * size(character) / if length > 0.0 { length } else { 1.0 }
        });
        [x, y, z, -x, -y, -z]
    };
    at_rest.iter().map(of).collect()
}

/// A clip packed as its difference from a pose.
fn onto_pose(character: &Character, curves: &CurveClip, pose: &[Transform]) -> Clip {
    let skeleton = character.skeleton();
    let bare = RawCharacter::from_skeleton(skeleton);
    let bare = bare
        .build(&ImportOptions {
            curves: true,
            ..ImportOptions::default()
        })
        .unwrap()
        .character;
    let curves = CurveClip::new("clip", curves.tracks().to_vec(), skeleton).unwrap();
    let clips = vec![rig::held(skeleton, pose), curves];
    let frame = PoseReference::Frame {
        clip: "held".into(),
        time_s: 0.0,
    };
    let whole = rig::additive(bare.with_clips(clips).unwrap(), frame).unwrap();
    whole.clips()[1].clone()
}

#[test]
fn put_onto_their_reference_they_are_the_files_curves() {
    let mut flat = 0;
    for (model, differences) in models().iter().zip(differences()) {
        let character = &model.character;
        let nodes = joint_nodes(model.scene());
        let rest = rest(character);
        let at_rest = composed(
            character,
            rest.iter().map(|joint| onto(joint, &Transform::IDENTITY)),
        );
        let points = points(character, &at_rest);
        let mut worst = 0.0_f64;
        for difference in differences {
            let Difference {
                number, from, made, ..
            } = difference;
            let Ok(clip) = made else {
                // A scale of 0 cannot be a reference.
                let error = refused(made.clone());
                assert!(matches!(error, Error::At { what: "joint", .. }), "{error}");
                assert!(
                    from.iter()
                        .any(|joint| joint.scale.abs().min_element() == 0.0)
                );
                flat += 1;
                continue;
            };
            assert!(clip.is_additive());
            let tracks = character.curves()[*number].tracks().iter();
            let ends_s = tracks.filter_map(|track| track.values.times_s().last());
            let end_s = ends_s.fold(0.0, |end_s: f32, own_s| end_s.max(*own_s));
            assert_eq!(clip.duration_s(), f64::from(end_s));
            let mut delta = rest.clone();
            for time in model.scene().clips[*number].times() {
                clip.sample(time, &mut delta).unwrap();
                let got = composed(character, from.iter().zip(&delta).map(|(a, b)| onto(a, b)));
                let want = model.scene().globals(Some((*number, time)));
                // Of this, 1e-6 is lost to rounding: of the reference, which is the crate's
                // own, and of the difference.
                let reach = got
                    .iter()
                    .map(|m| m.w_axis.truncate().length())
                    .fold(size(character), f64::max);
                let allowed = ERROR_M * size(character) + 2e-6 * reach;
                for (joint, node) in nodes.iter().enumerate() {
                    let want = DMat4::from_cols_array_2d(&want[*node]).transpose();
                    for point in points[joint] {
                        let off = (got[joint].transform_point3(point)
                            - want.transform_point3(point))
                        .length();
                        worst = worst.max(off / allowed);
                        assert!(
                            off <= allowed,
                            "{}, clip {number} at {time}, joint {joint}: {off:.2e} of \
                             {allowed:.2e}",
                            model.name
                        );
                    }
                }
            }
        }
        println!("{:22} {worst:.2} of the bound", model.name);
    }
    println!("{flat} refused for a scale of 0");
}

#[test]
fn what_no_track_drives_is_no_difference() {
    let drives = |model: &&Model| !model.character.curves().is_empty();
    for model in models().iter().filter(drives) {
        let character = &model.character;
        let mut rng = Rng::new(2);
        let pose: Vec<Transform> = rest(character)
            .iter()
            .map(|joint| Transform {
                translation: joint.translation + rng.vector(-0.1, 0.1),
                rotation: rng.rotation(),
                scale: rng.vector(0.5, 2.0),
            })
            .collect();
        let curves = &character.curves()[0];
        let clip = onto_pose(character, curves, &pose);
        let mut delta = pose.clone();
        clip.sample(0.3, &mut delta).unwrap();
        let mut exact = pose.clone();
        curves.sample(0.3, &mut exact).unwrap();
        for (joint, delta) in delta.iter().enumerate() {
            let driven = |of: fn(&TrackValues) -> bool| {
                let mut tracks = curves.tracks().iter();
                tracks.any(|track| usize::from(track.joint) == joint && of(&track.values))
            };
            if !driven(|values| matches!(values, TrackValues::Translation(_))) {
                assert_eq!(delta.translation, Vec3::ZERO);
            }
            if !driven(|values| matches!(values, TrackValues::Rotation(_))) {
                assert_eq!(delta.rotation, Quat::IDENTITY);
            }
            if !driven(|values| matches!(values, TrackValues::Scale(_))) {
                assert_eq!(delta.scale, Vec3::ONE);
            }
        }
        let got = composed(character, pose.iter().zip(&delta).map(|(a, b)| onto(a, b)));
        let want = composed(
            character,
            exact.iter().map(|joint| onto(joint, &Transform::IDENTITY)),
        );
        let reach = want
            .iter()
            .map(|m| m.w_axis.truncate().length())
            .fold(size(character), f64::max);
        for (got, want) in got.iter().zip(&want) {
            let off = (got.w_axis - want.w_axis).truncate().length();
            assert!(
                off <= ERROR_M * size(character) + 2e-6 * reach,
                "{}: {off:.2e}",
                model.name
            );
        }
    }
}

#[test]
fn the_reference_itself_is_no_difference() {
    let character = mannequin();
    for curves in character.curves() {
        let clip = additive(character, curves, PoseReference::Start).unwrap();
        let mut delta = rest(character);
        clip.sample(0.0, &mut delta).unwrap();
        // Packed, it may be off by the clip's bound: at the joint, and at a point beside it, which
        // a turn or a scale moves.
        let length = (ERROR_M * size(character)) as f32 + 1e-6;
        let part = (ERROR_M / POINT_M) as f32 + 1e-6;
        for joint in &delta {
            assert!(joint.translation.length() < length);
            assert!((joint.scale - Vec3::ONE).length() < part);
            assert!(2.0 * joint.rotation.xyz().length() < part);
        }
        clip.sample(clip.duration_s() * 0.4, &mut delta).unwrap();
        assert!(delta.iter().any(|joint| !same(&Transform::IDENTITY, joint)));
    }
}

#[test]
fn steps_lines_and_splines_stay_what_they_are() {
    let character = rig::chain(3);
    let mut rng = Rng::new(4);
    for interpolation in [
        Interpolation::Step,
        Interpolation::Linear,
        Interpolation::CubicSpline,
    ] {
        let curves = sine_clip(&character, interpolation);
        let mut pose = rest(&character);
        pose[1] = Transform {
            translation: Vec3::new(5.0, -1.0, 0.5),
            rotation: rng.rotation(),
            scale: Vec3::new(2.0, -0.5, 0.25),
        };
        let clip = onto_pose(&character, &curves, &pose);
        for _ in 0..500 {
            let time = f64::from(rng.range(-0.1, 2.1));
            let (mut exact, mut delta) = (pose.clone(), pose.clone());
            curves.sample(time, &mut exact).unwrap();
            clip.sample(time, &mut delta).unwrap();
            let got = onto(&pose[1], &delta[1]);
            let want = onto(&exact[1], &Transform::IDENTITY);
            for point in [DVec3::ZERO, DVec3::X * 0.02, DVec3::Z * 0.02] {
                let off = (got.transform_point3(point) - want.transform_point3(point)).length();
                let bound = ERROR_M * size(&character) + 2e-6;
                assert!(off < bound, "{interpolation:?} at {time}: {off:.1e}");
            }
        }
    }
}
