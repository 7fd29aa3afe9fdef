//! Blends follow their rule, and differences are undone by it.

use super::poses::{apart, blended, pose, transform};
use crate::reference::rng::Rng;
use throng::clip::difference;
use throng::glam::{DQuat, DVec3, Quat, Vec3};
use throng::motion::{BLEND_THRESHOLD, PoseLayer};
use throng::skeleton::{Mask, Transform};

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
}
