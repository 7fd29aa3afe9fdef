//! Masks, blends of poses, and additive clips, against plain `f64` code.

use crate::reference::rng::Rng;
use throng::Error;
use throng::clip::difference;
use throng::error::ArgumentFault;
use throng::glam::{DQuat, DVec3, Quat, Vec3};
use throng::motion::{BLEND_THRESHOLD, PoseLayer, blend};
use throng::skeleton::Mask;
use throng::skeleton::Transform;

fn transform(rng: &mut Rng) -> Transform {
    Transform {
        translation: rng.vector(-2.0, 2.0),
        rotation: rng.rotation(),
        scale: rng.vector(0.5, 1.5),
    }
}

fn pose(rng: &mut Rng, joints: usize) -> Vec<Transform> {
    (0..joints).map(|_| transform(rng)).collect()
}

/// The largest difference of two poses in translation, scale or rotation (as a chord).
fn apart(a: &[Transform], b: &[Transform]) -> f32 {
    assert_eq!(a.len(), b.len());
    let of = |(a, b): (&Transform, &Transform)| {
        let chord = (a.rotation - b.rotation)
            .length()
            .min((a.rotation + b.rotation).length());
        let far = [
            (a.translation - b.translation).length(),
            (a.scale - b.scale).length(),
            chord,
        ];
        far.map(|value| if value.is_nan() { f32::INFINITY } else { value })
    };
    a.iter().zip(b).flat_map(of).fold(0.0, f32::max)
}

fn blended(rest: &[Transform], layers: &[PoseLayer<'_>], threshold: f32) -> Vec<Transform> {
    let mut out = vec![
        Transform {
            scale: Vec3::NAN,
            ..Transform::IDENTITY
        };
        rest.len()
    ];
    blend(rest, layers, threshold, &mut out).unwrap();
    out
}

#[test]
fn masks_are_built_by_name_and_subtree() {
    let character = crate::models::mannequin();
    let skeleton = character.skeleton();
    let joints = skeleton.joints();
    let below = |top: usize, mut joint: usize| {
        let mut steps = 0;
        while joint != top {
            joint = joints[joint].parent?.index();
            steps += 1;
        }
        Some(steps)
    };
    for (top, joint) in joints.iter().enumerate() {
        let found = joints
            .iter()
            .position(|other| other.name == joint.name)
            .unwrap();
        let one = Mask::none(skeleton)
            .with_joint(skeleton, &joint.name, 0.75)
            .unwrap();
        let many = Mask::all(skeleton)
            .with_subtree(skeleton, &joint.name, 0.25)
            .unwrap();
        let soft = Mask::none(skeleton)
            .with_feathered_subtree(skeleton, &joint.name, 1.0, 3)
            .unwrap();
        for index in 0..joints.len() {
            assert_eq!(
                one.weights()[index],
                if index == found { 0.75 } else { 0.0 }
            );
            let inside = below(found, index);
            assert_eq!(
                many.weights()[index],
                if inside.is_some() { 0.25 } else { 1.0 },
                "{top} {index}"
            );
            let want = inside.map_or(0.0, |steps| (steps as f32 + 1.0).min(4.0) / 4.0);
            assert!((soft.weights()[index] - want).abs() < 1e-7);
            assert_eq!(
                many.clone().inverted().weights()[index],
                1.0 - many.weights()[index]
            );
        }
    }
    let given = vec![0.5; joints.len()];
    assert_eq!(Mask::from_weights(given.clone()).unwrap().weights(), given);
}

#[test]
fn what_is_no_mask_is_refused() {
    let character = crate::models::mannequin();
    let skeleton = character.skeleton();
    let none = Mask::none(skeleton);
    let Err(Error::UnknownName {
        what: "joint",
        name,
        known,
    }) = none.clone().with_subtree(skeleton, "Tail", 1.0)
    else {
        panic!("no such joint");
    };
    assert_eq!(&*name, "Tail");
    assert!(known.contains(&*skeleton.joints()[0].name));
    let root = &skeleton.joints()[0].name;
    for weight in [-0.1, 1.1, f32::NAN, f32::INFINITY, f32::MAX] {
        let faults = [
            none.clone().with_joint(skeleton, root, weight),
            none.clone().with_subtree(skeleton, root, weight),
        ];
        for fault in faults {
            assert!(
                matches!(
                    fault,
                    Err(Error::Argument {
                        what: "mask weight",
                        ..
                    })
                ),
                "{weight}"
            );
        }
        let fault = Mask::from_weights(vec![1.0, 0.0, weight]);
        assert!(matches!(
            fault,
            Err(Error::At {
                what: "joint",
                index: 2,
                ..
            })
        ));
    }
    let other = Mask::from_weights(vec![1.0; 2]).unwrap();
    let need = skeleton.len();
    let why = ArgumentFault::Length { got: 2, need };
    assert_eq!(
        other.with_joint(skeleton, root, 1.0),
        Err(Error::Argument { what: "mask", why })
    );
    assert!(matches!(
        Mask::from_weights(vec![0.0; 65_536]),
        Err(Error::Capacity { .. })
    ));
    assert!(Mask::from_weights(Vec::new()).unwrap().weights().is_empty());
}

/// The rule for one joint, as it is worded, one level after the other.
fn ruled(
    rest: &Transform,
    layers: &[PoseLayer<'_>],
    threshold: f32,
    joint: usize,
) -> (DVec3, DQuat, DVec3) {
    let (mut t, mut q, mut s) = (
        rest.translation.as_dvec3(),
        rest.rotation.as_dquat(),
        rest.scale.as_dvec3(),
    );
    for level in 0..=u8::MAX {
        let here = |layer: &&PoseLayer<'_>| layer.level == level && layer.weight > 0.0;
        let weight = |layer: &PoseLayer<'_>| {
            f64::from(layer.weight)
                * layer
                    .mask
                    .map_or(1.0, |mask| f64::from(mask.weights()[joint]))
        };
        let means = || layers.iter().filter(here).filter(|layer| !layer.additive);
        let total: f64 = means().map(weight).sum();
        if total > 0.0 {
            let least = if level == 0 {
                f64::from(threshold)
            } else {
                1.0
            };
            let divisor = total.max(least);
            let under = Transform {
                translation: t.as_vec3(),
                rotation: q.as_quat(),
                scale: s.as_vec3(),
            };
            let mut parts = vec![(under, (least - total).max(0.0) / divisor)];
            parts.extend(means().map(|layer| (layer.pose[joint], weight(layer) / divisor)));
            let mut sum = [0.0; 4];
            (t, s) = (DVec3::ZERO, DVec3::ZERO);
            for (part, w) in parts {
                t += part.translation.as_dvec3() * w;
                s += part.scale.as_dvec3() * w;
                let other = part.rotation.as_dquat().to_array();
                let dot: f64 = sum.iter().zip(&other).map(|(a, b)| a * b).sum();
                for (sum, value) in sum.iter_mut().zip(other) {
                    *sum += if dot < 0.0 { -value * w } else { value * w };
                }
            }
            q = DQuat::from_array(sum).normalize();
        }
        for layer in layers.iter().filter(here).filter(|layer| layer.additive) {
            let (add, w) = (layer.pose[joint], weight(layer));
            t += add.translation.as_dvec3() * w;
            let mut turn = add.rotation.as_dquat();
            if turn.w < 0.0 {
                turn = -turn;
            }
            let part =
                DQuat::from_xyzw(turn.x * w, turn.y * w, turn.z * w, 1.0 + (turn.w - 1.0) * w);
            q = (q * part.normalize()).normalize();
            s *= DVec3::ONE + (add.scale.as_dvec3() - DVec3::ONE) * w;
        }
    }
    (t, q, s)
}

#[test]
fn blends_follow_their_rule() {
    let mut rng = Rng::new(1);
    let mut worst = 0.0_f64;
    for _ in 0..2000 {
        let joints = 1 + rng.below(5);
        let rest = pose(&mut rng, joints);
        let count = rng.below(12);
        let poses: Vec<_> = (0..count).map(|_| pose(&mut rng, joints)).collect();
        let mask = |rng: &mut Rng| {
            let weights = (0..joints).map(|_| [0.0, 1.0, rng.range(0.0, 1.0)][rng.below(3)]);
            Mask::from_weights(weights.collect()).unwrap()
        };
        let masks: Vec<_> = (0..count).map(|_| mask(&mut rng)).collect();
        let mut level = 0;
        let mut layers = Vec::new();
        for (pose, mask) in poses.iter().zip(&masks) {
            level += rng.below(2) as u8;
            layers.push(PoseLayer {
                pose,
                weight: [0.0, 0.03, rng.range(0.0, 1.0), rng.range(0.0, 3.0)][rng.below(4)],
                mask: rng.chance(2).then_some(mask),
                additive: rng.chance(3),
                level,
            });
        }
        let threshold = [BLEND_THRESHOLD, 1.0, rng.range(0.01, 2.0)][rng.below(3)];
        let out = blended(&rest, &layers, threshold);
        for (joint, got) in out.iter().enumerate() {
            let (t, q, s) = ruled(&rest[joint], &layers, threshold, joint);
            let chord = (got.rotation.as_dquat() - q)
                .length()
                .min((got.rotation.as_dquat() + q).length());
            let far = [
                (got.translation.as_dvec3() - t).length() / (1.0 + t.length()),
                (got.scale.as_dvec3() - s).length() / (1.0 + s.length()),
                chord,
            ];
            worst = far.into_iter().fold(worst, f64::max);
        }
    }
    println!("off by at most {worst:.1e}");
    // A mask's weight times a layer's is rounded to `f32`, and so are poses, at the end and, here,
    // at each level.
    assert!(worst < 1e-6, "{worst:.1e}");
}

#[test]
fn properties_of_blends_hold() {
    let mut rng = Rng::new(2);
    for _ in 0..500 {
        let joints = 4;
        let rest = pose(&mut rng, joints);
        let one = pose(&mut rng, joints);
        // A pose with itself, at any weights from the threshold on, is the pose.
        let layers: Vec<_> = (0..1 + rng.below(4))
            .map(|_| PoseLayer::new(&one).weighted(rng.range(0.1, 2.0)))
            .collect();
        assert!(apart(&blended(&rest, &layers, BLEND_THRESHOLD), &one) < 3e-7);
        // Not at all, and with no weight: what is below.
        assert_eq!(blended(&rest, &[], BLEND_THRESHOLD), rest);
        let odd = [Transform {
            translation: Vec3::NAN,
            ..Transform::IDENTITY
        }; 2];
        let unseen = [PoseLayer::new(&odd).weighted(0.0), PoseLayer::new(&one)];
        assert_eq!(
            blended(&rest, &unseen, BLEND_THRESHOLD),
            blended(&rest, &unseen[1..], BLEND_THRESHOLD)
        );
        let no_joint = Mask::from_weights(vec![0.0; joints]).unwrap();
        let masked = [PoseLayer::new(&one).masked(&no_joint)];
        assert_eq!(blended(&rest, &masked, BLEND_THRESHOLD), rest);
        // Weights count by their ratio, from the threshold on.
        let other: Vec<_> = one
            .iter()
            .map(|joint| {
                let turn = Quat::from_axis_angle(rng.direction(), rng.range(0.0, 1.5));
                Transform {
                    rotation: turn * joint.rotation,
                    ..transform(&mut rng)
                }
            })
            .collect();
        let (a, b) = (
            PoseLayer::new(&one).weighted(0.25),
            PoseLayer::new(&other).weighted(0.5),
        );
        let first = blended(&rest, &[a, b], BLEND_THRESHOLD);
        let doubled = [a.weighted(0.5), b.weighted(1.0)];
        assert!(apart(&blended(&rest, &doubled, BLEND_THRESHOLD), &first) < 3e-7);
        // Their order does not matter: rotations are less than half a turn apart.
        assert!(apart(&blended(&rest, &[b, a], BLEND_THRESHOLD), &first) < 3e-7);
        // The identity adds nothing. Additions follow means, wherever they are in a level.
        let nothing = [Transform::IDENTITY; 4];
        let none = PoseLayer::new(&nothing)
            .added()
            .weighted(rng.range(0.0, 5.0));
        assert_eq!(blended(&rest, &[none, a, b], BLEND_THRESHOLD), first);
        // A level of full weight covers the levels below. With half of it, half of them shows.
        let over = [a, b, PoseLayer::new(&one).on_level(3)];
        assert!(apart(&blended(&rest, &over, BLEND_THRESHOLD), &one) < 3e-7);
        let half = [
            PoseLayer::new(&one),
            PoseLayer::new(&other).weighted(0.5).on_level(1),
        ];
        let even = [PoseLayer::new(&one), PoseLayer::new(&other)];
        assert!(apart(&blended(&rest, &half, 0.1), &blended(&rest, &even, 0.1)) < 3e-7);
    }
}

/// The blending job of ozz-animation, by its description: layers, then the rest pose with the
/// weight missing to the threshold, then division by the sum.
#[test]
fn one_level_is_ozz_animations_rule() {
    let mut rng = Rng::new(3);
    for _ in 0..500 {
        let rest = pose(&mut rng, 1);
        let poses: Vec<_> = (0..3).map(|_| pose(&mut rng, 1)).collect();
        let threshold = rng.range(0.05, 1.5);
        let weights = [0; 3].map(|_| rng.range(0.0, 0.5));
        let layers: Vec<_> = poses
            .iter()
            .zip(weights)
            .map(|(pose, weight)| PoseLayer::new(pose).weighted(weight))
            .collect();
        let mut sum = 0.0_f64;
        let mut translation = DVec3::ZERO;
        for (pose, weight) in poses.iter().zip(weights) {
            translation += pose[0].translation.as_dvec3() * f64::from(weight);
            sum += f64::from(weight);
        }
        let missing = f64::from(threshold) - sum;
        if missing > 0.0 {
            translation += rest[0].translation.as_dvec3() * missing;
            sum = threshold.into();
        }
        let want = translation * (1.0 / sum);
        let got = blended(&rest, &layers, threshold)[0].translation.as_dvec3();
        assert!((got - want).length() < 1e-6);
    }
}

#[test]
fn weights_as_large_as_they_get_do_not_overflow() {
    let (a, b) = (
        [Transform {
            translation: Vec3::X,
            ..Transform::IDENTITY
        }],
        [Transform::IDENTITY],
    );
    let layers = [
        PoseLayer::new(&a).weighted(f32::MAX),
        PoseLayer::new(&b).weighted(f32::MAX),
    ];
    assert_eq!(blended(&b, &layers, f32::MAX)[0].translation, Vec3::X * 0.5);
    let far = [Transform {
        translation: Vec3::splat(f32::MAX),
        ..Transform::IDENTITY
    }];
    let layers = [
        PoseLayer::new(&far).weighted(f32::MAX),
        PoseLayer::new(&far).weighted(f32::MIN_POSITIVE),
    ];
    assert_eq!(blended(&b, &layers, 0.1), far);
    let least = [PoseLayer::new(&far).weighted(f32::from_bits(1))];
    assert_eq!(blended(&b, &least, f32::from_bits(1)), far);
}

#[test]
fn what_can_not_be_blended_is_refused() {
    let (two, three) = ([Transform::IDENTITY; 2], [Transform::IDENTITY; 3]);
    let good = PoseLayer::new(&two);
    let mut out = [Transform {
        scale: Vec3::ZERO,
        ..Transform::IDENTITY
    }; 2];
    let before = out;
    let mask = Mask::from_weights(vec![1.0]).unwrap();
    let fault =
        |layers: &[PoseLayer<'_>], out: &mut [Transform]| match blend(&two, layers, 0.1, out) {
            Err(Error::At {
                what: "layer",
                index,
                why,
            }) => (index, *why),
            other => panic!("{other:?}"),
        };
    let (index, why) = fault(&[good, PoseLayer::new(&three)], &mut out);
    assert_eq!(
        (index, why),
        (
            1,
            Error::Argument {
                what: "pose",
                why: ArgumentFault::Length { got: 3, need: 2 }
            }
        )
    );
    let (index, why) = fault(&[good.masked(&mask)], &mut out);
    assert_eq!(
        (index, why),
        (
            0,
            Error::Argument {
                what: "mask",
                why: ArgumentFault::Length { got: 1, need: 2 }
            }
        )
    );
    for weight in [-1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let (index, why) = fault(&[good, good.weighted(weight)], &mut out);
        assert!(
            index == 1 && matches!(why, Error::Argument { what: "weight", .. }),
            "{weight}"
        );
    }
    let (index, why) = fault(&[good.on_level(1), good.weighted(0.0), good], &mut out);
    assert!(index == 2 && matches!(why, Error::Argument { what: "level", .. }));
    for threshold in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let result = blend(&two, &[good], threshold, &mut out);
        assert!(
            matches!(
                result,
                Err(Error::Argument {
                    what: "threshold",
                    ..
                })
            ),
            "{threshold}"
        );
    }
    assert!(matches!(
        blend(&three, &[], 0.1, &mut out),
        Err(Error::Argument { .. })
    ));
    assert_eq!(out, before);
    assert_eq!(blend(&[], &[], 0.1, &mut []), Ok(()));
    assert_eq!(blend(&[], &[PoseLayer::new(&[])], 0.1, &mut []), Ok(()));
}

#[test]
fn a_difference_put_back_onto_its_reference_is_the_pose() {
    let mut rng = Rng::new(4);
    for _ in 0..300 {
        let (reference, other) = (pose(&mut rng, 5), pose(&mut rng, 5));
        let mut delta = other.clone();
        difference(&reference, &other, &mut delta).unwrap();
        let back = blended(
            &reference,
            &[PoseLayer::new(&delta).added()],
            BLEND_THRESHOLD,
        );
        assert!(apart(&back, &other) < 2e-6);
        difference(&other, &other, &mut delta).unwrap();
        assert!(apart(&delta, &[Transform::IDENTITY; 5]) < 3e-7);
    }
    let flat = [Transform {
        scale: Vec3::new(1.0, 0.0, 1.0),
        ..Transform::IDENTITY
    }];
    let far = |x: f32| {
        [Transform {
            translation: Vec3::X * x,
            ..Transform::IDENTITY
        }]
    };
    let mut out = [Transform::IDENTITY];
    let refused = |result: Result<(), Error>| {
        matches!(
            result,
            Err(Error::At {
                what: "joint",
                index: 0,
                ..
            })
        )
    };
    assert!(refused(difference(&flat, &far(0.0), &mut out)));
    assert!(refused(difference(&far(f32::NAN), &far(0.0), &mut out)));
    assert!(refused(difference(
        &far(f32::MIN),
        &far(f32::MAX),
        &mut out
    )));
    assert!(matches!(
        difference(&flat, &[], &mut out),
        Err(Error::Argument { .. })
    ));
    assert!(matches!(
        difference(&flat, &flat, &mut []),
        Err(Error::Argument { .. })
    ));
}
