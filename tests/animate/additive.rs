//! Additive clips.
//!
//! Put back onto their reference, they are the curves of the file, by `f64` code that shares
//! nothing with the crate. In the batch, they are added as `blend` adds them.

use crate::models::{Model, mannequin, models};
use crate::reference::compare::joint_nodes;
use crate::reference::rng::Rng;
use rayon::prelude::*;
use std::sync::LazyLock;
use throng::Error;
use throng::animate::BatchPoser;
use throng::character::Character;
use throng::clip::{AdditiveReference, Clip, ClipOptions};
use throng::clip::{CurveClip, Interpolation, Keys, Track, TrackValues};
use throng::glam::{DMat4, DVec3, Quat, Vec3};
use throng::ids::{ClipId, JointId, MaskId};
use throng::motion::{BLEND_THRESHOLD, ClipSample, PoseLayer, SampleList, blend};
use throng::skeleton::Mask;
use throng::skeleton::Transform;

/// The error bound of a clip, and the distance from its joint at which it is measured, for a
/// character of 1.8 m.
const ERROR_M: f64 = 1e-4 / 1.8;
const POINT_M: f64 = 0.03 / 1.8;

/// An additive clip of one of [`models`], or why there is none.
struct Difference {
    /// The number of the clip in the model.
    number: usize,
    reference: AdditiveReference,
    /// The pose of the reference.
    from: Vec<Transform>,
    made: throng::Result<Clip>,
}

/// The number of clips of each model that are made additive.
const CLIPS: usize = 6;

/// The differences of each model. They are packed once for all tests.
///
/// The first two clips of a file have one from the rest pose and one from a random frame. The
/// other clips have one of them, by turns.
fn differences() -> &'static [Vec<Difference>] {
    static DIFFERENCES: LazyLock<Vec<Vec<Difference>>> = LazyLock::new(|| {
        let all = models().par_iter().enumerate().map(|(index, model)| {
            let curves = model.character.curves().par_iter().enumerate().take(CLIPS);
            let asked = curves.flat_map_iter(|(number, curves)| {
                let mut rng = Rng::new(number as u64);
                let time_s = f64::from(rng.range(0.0, 1.0) * curves.duration_s());
                let both = [AdditiveReference::Rest, AdditiveReference::Frame { time_s }];
                let both_wanted = number < 2 && !model.name.starts_with("random");
                let wanted = move |of: usize| both_wanted || (number + index) % 2 == of;
                let both = both.into_iter().enumerate();
                both.filter(move |(of, _)| wanted(*of))
                    .map(move |(_, reference)| (number, reference))
            });
            asked
                .map(|(number, reference)| difference(&model.character, number, reference))
                .collect()
        });
        all.collect()
    });
    &DIFFERENCES
}

fn difference(character: &Character, number: usize, reference: AdditiveReference) -> Difference {
    let curves = &character.curves()[number];
    let mut from = rest(character);
    if let AdditiveReference::Frame { time_s } = reference {
        curves.sample(time_s, &mut from).unwrap();
    }
    Difference {
        number,
        made: Clip::additive(character, curves, &reference, &ClipOptions::default()),
        reference,
        from,
    }
}

fn rest(character: &Character) -> Vec<Transform> {
    character
        .skeleton()
        .joints()
        .iter()
        .map(|joint| joint.rest)
        .collect()
}

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

/// The points that are compared: along the axes of each joint, at rest.
fn points(character: &Character, at_rest: &[DMat4]) -> Vec<[DVec3; 3]> {
    let of = |model: &DMat4| {
        [0, 1, 2].map(|axis| {
            let length = model.col(axis).truncate().length();
            DVec3::AXES[axis] * POINT_M * size(character) / if length > 0.0 { length } else { 1.0 }
        })
    };
    at_rest.iter().map(of).collect()
}

#[test]
fn put_onto_their_reference_they_are_the_files_curves() {
    let mut refused = 0;
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
                assert!(
                    matches!(made, Err(Error::At { what: "joint", .. })),
                    "{made:?}"
                );
                assert!(
                    from.iter()
                        .any(|joint| joint.scale.abs().min_element() == 0.0)
                );
                refused += 1;
                continue;
            };
            assert!(clip.is_additive());
            let duration_s = character.curves()[*number].duration_s();
            assert_eq!(clip.duration_s(), f64::from(duration_s));
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
    println!("{refused} refused for a scale of 0");
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
        let reference = AdditiveReference::Pose(pose.clone());
        let clip = Clip::additive(character, curves, &reference, &ClipOptions::default()).unwrap();
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
        let reference = AdditiveReference::Frame { time_s: 0.0 };
        let clip = Clip::additive(character, curves, &reference, &ClipOptions::default()).unwrap();
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

fn sine_clip(character: &Character, interpolation: Interpolation) -> CurveClip {
    let per_key = if interpolation == Interpolation::CubicSpline {
        3
    } else {
        1
    };
    let values = (0..4 * per_key).map(|at| Vec3::new(at as f32, 1.0, -0.5 * at as f32));
    let keys = Keys {
        times_s: vec![0.0, 0.5, 0.75, 2.0],
        values: values.collect(),
        interpolation,
    };
    let turns = (0..4 * per_key).map(|at| Quat::from_rotation_x(0.3 * at as f32));
    let turns = Keys {
        times_s: vec![0.25, 0.5, 1.0, 1.5],
        values: turns.collect(),
        interpolation,
    };
    let sizes = (0..4 * per_key).map(|at| Vec3::new(1.0 + at as f32, 0.25, -1.0));
    let sizes = Keys {
        times_s: vec![0.0, 0.1, 0.2, 0.3],
        values: sizes.collect(),
        interpolation,
    };
    let tracks = [
        TrackValues::Translation(keys),
        TrackValues::Rotation(turns),
        TrackValues::Scale(sizes),
    ];
    let tracks = tracks.map(|values| Track {
        joint: JointId(1),
        values,
    });
    CurveClip::new("made", tracks.into(), character.skeleton()).unwrap()
}

#[test]
fn steps_lines_and_splines_stay_what_they_are() {
    let character = crate::reference::rig::chain(3);
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
        let reference = AdditiveReference::Pose(pose.clone());
        let options = ClipOptions {
            error_m: Some(1e-5),
            ..ClipOptions::default()
        };
        let clip = Clip::additive(&character, &curves, &reference, &options).unwrap();
        for _ in 0..500 {
            let time = f64::from(rng.range(-0.1, 2.1));
            let (mut exact, mut delta) = (pose.clone(), pose.clone());
            curves.sample(time, &mut exact).unwrap();
            clip.sample(time, &mut delta).unwrap();
            let got = onto(&pose[1], &delta[1]);
            let want = onto(&exact[1], &Transform::IDENTITY);
            for point in [DVec3::ZERO, DVec3::X * 0.02, DVec3::Z * 0.02] {
                let off = (got.transform_point3(point) - want.transform_point3(point)).length();
                assert!(off < 5e-5, "{interpolation:?} at {time}: {off:.1e}");
            }
        }
    }
}

#[test]
fn what_can_be_no_reference_is_refused() {
    let character = crate::reference::rig::chain(3);
    let curves = sine_clip(&character, Interpolation::Linear);
    let make = |pose: Vec<Transform>| {
        Clip::additive(
            &character,
            &curves,
            &AdditiveReference::Pose(pose),
            &ClipOptions::default(),
        )
    };
    let good = rest(&character);
    let with = |joint: usize, transform: Transform| {
        let mut pose = good.clone();
        pose[joint] = transform;
        pose
    };
    let flat = Transform {
        scale: Vec3::new(1.0, 1.0, 0.0),
        ..good[1]
    };
    let text = make(with(1, flat)).unwrap_err().to_string();
    assert_eq!(text, "joint 1: reference: has a scale of 0");
    for bad in [
        Transform {
            translation: Vec3::splat(f32::NAN),
            ..good[1]
        },
        Transform {
            rotation: Quat::from_xyzw(0.0, 0.0, 0.0, 0.0),
            ..good[1]
        },
        Transform {
            scale: Vec3::splat(f32::INFINITY),
            ..good[1]
        },
    ] {
        assert!(matches!(
            make(with(1, bad)),
            Err(Error::At {
                what: "joint",
                index: 1,
                ..
            })
        ));
    }
    // A property without a track has no difference that could fail.
    assert!(
        make(with(
            2,
            Transform {
                scale: Vec3::ZERO,
                ..good[2]
            }
        ))
        .is_ok()
    );
    assert!(matches!(
        make(good[..2].to_vec()),
        Err(Error::Argument {
            what: "reference pose",
            ..
        })
    ));
    let far = Transform {
        translation: Vec3::splat(f32::MAX),
        ..good[1]
    };
    let _ = make(with(1, far));
    let tiny = Transform {
        scale: Vec3::splat(f32::from_bits(1)),
        ..good[1]
    };
    assert!(matches!(make(with(1, tiny)), Err(Error::Argument { .. })));
    for time_s in [f64::NAN, f64::INFINITY, f64::MIN] {
        let frame = AdditiveReference::Frame { time_s };
        assert!(Clip::additive(&character, &curves, &frame, &ClipOptions::default()).is_ok());
    }
}

/// The distance of two transforms: lengths relative to their size, rotations as chords.
fn apart(a: &Transform, b: &Transform) -> f32 {
    let long = 1.0 + b.translation.length() + b.scale.length();
    let chord = (a.rotation - b.rotation).length();
    let off = [
        (a.translation - b.translation).length() / long,
        (a.scale - b.scale).length() / long,
        chord.min((a.rotation + b.rotation).length()),
    ];
    off.into_iter().fold(0.0, f32::max)
}

/// The `blend` of samples whose rotations are turned by about `turn` radians.
fn plain(
    rest: &[Transform],
    clips: &[Clip],
    masks: &[Mask],
    samples: &[ClipSample],
    turn: f32,
    rng: &mut Rng,
) -> Vec<Transform> {
    let mut poses = Vec::new();
    for sample in samples {
        let mut pose = rest.to_vec();
        clips[sample.clip.index()]
            .sample(sample.time_s, &mut pose)
            .unwrap();
        for joint in &mut pose {
            joint.rotation = Quat::from_scaled_axis(rng.direction() * turn) * joint.rotation;
        }
        poses.push(pose);
    }
    let layers = samples.iter().zip(&poses).map(|(sample, pose)| PoseLayer {
        pose,
        weight: sample.weight,
        mask: sample.mask.map(|mask| &masks[usize::from(mask)]),
        additive: clips[sample.clip.index()].is_additive(),
        level: sample.level,
    });
    let mut out = rest.to_vec();
    blend(rest, &layers.collect::<Vec<_>>(), BLEND_THRESHOLD, &mut out).unwrap();
    out
}

fn samples(rng: &mut Rng, clips: &[Clip]) -> Vec<ClipSample> {
    let mut level = 0;
    let mut sample = || {
        level += rng.below(2) as u8;
        let clip = rng.below(clips.len());
        ClipSample {
            clip: ClipId(clip as u16),
            time_s: f64::from(rng.range(-0.1, 1.1)) * clips[clip].duration_s(),
            weight: [0.0, 0.05, rng.range(0.0, 1.5)][rng.below(3)],
            mask: [None, Some(MaskId(0)), Some(MaskId(1))][rng.below(3)],
            level,
        }
    };
    let all = [(); 5].map(|()| sample());
    all[..rng.below(6)].to_vec()
}

#[test]
fn the_batch_adds_them_as_blend_does() {
    let mut rng = Rng::new(5);
    let (mut worst, mut held, mut skipped) = (0.0_f32, 0, 0);
    let all = models().iter().zip(differences());
    for (model, differences) in all.filter(|(_, differences)| !differences.is_empty()) {
        let character = &model.character;
        let rest = rest(character);
        let mut clips: Vec<Clip> = model.packed().iter().take(4).cloned().collect();
        let of_frames = differences.iter().filter(|difference| {
            difference.number < 4 && difference.reference != AdditiveReference::Rest
        });
        clips.extend(of_frames.filter_map(|difference| difference.made.clone().ok()));
        let mut mask =
            || Mask::from_weights(rest.iter().map(|_| rng.range(0.0, 1.0)).collect()).unwrap();
        let masks = [mask(), mask()];
        let poser = BatchPoser::new(character)
            .unwrap()
            .with_masks(&masks)
            .unwrap();
        let mut list = SampleList::new();
        for _ in 0..40 {
            list.push(samples(&mut rng, &clips));
        }
        let mut got = vec![Transform::IDENTITY; list.len() * rest.len()];
        poser.local_poses(&clips, &list, &mut got).unwrap();
        for (instance, got) in got.chunks(rest.len()).enumerate() {
            let samples = list.samples(instance);
            let want = plain(&rest, &clips, &masks, samples, 0.0, &mut rng);
            // If rotations are half a turn apart, rounding decides the direction of the blend.
            let near = [(); 12].map(|()| plain(&rest, &clips, &masks, samples, 1e-3, &mut rng));
            for joint in 0..rest.len() {
                if near
                    .iter()
                    .any(|pose| apart(&pose[joint], &want[joint]) > 0.05)
                {
                    skipped += 1;
                    continue;
                }
                let off = apart(&got[joint], &want[joint]);
                held += 1;
                worst = worst.max(off);
                assert!(
                    off < 1e-5,
                    "{}, joint {joint}: {off:e} {samples:?}",
                    model.name
                );
            }
        }
    }
    println!("off by at most {worst:e}; {skipped} of {held} joints not looked at");
    assert!(skipped * 20 < held);
}
