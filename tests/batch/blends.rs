//! Blends of any number of clips, in batches of any size.

use crate::load::{ROUNDING, affine, both, clips, image, models, palettes, size};
use crate::reference::rng::Rng;
use throng::character::{Character, NO_PARENT, Transform};
use throng::glam::{DMat4, DQuat, DVec3};
use throng::pose::{BatchInstance, Clip, ClipSample, MAX_SAMPLES, Mat3x4};

/// Any clips at any times and weights; now and then the rest pose.
fn instance(rng: &mut Rng, clips: &[Clip]) -> BatchInstance {
    if clips.is_empty() || rng.chance(9) {
        return BatchInstance::REST;
    }
    let count = 1 + rng.below(MAX_SAMPLES);
    let sample = |_| {
        let clip = rng.below(clips.len());
        ClipSample {
            clip,
            time_s: f64::from(rng.range(-0.2, 1.2)) * clips[clip].duration_s(),
            weight: if rng.chance(5) {
                0.0
            } else {
                rng.range(0.05, 3.0)
            },
            mask: None,
            level: 0,
        }
    };
    let samples: Vec<_> = (0..count).map(sample).collect();
    BatchInstance::blend(&samples).unwrap()
}

/// The blend as `BatchInstance` words it, in `f64`.
fn blended(character: &Character, clips: &[Clip], instance: &BatchInstance) -> Vec<DMat4> {
    let joints = character.skeleton().joints();
    let rest: Vec<Transform> = joints.iter().map(|joint| joint.rest).collect();
    let total: f64 = instance.samples.iter().map(|s| f64::from(s.weight)).sum();
    let mut poses = Vec::new();
    for sample in instance.samples.iter().filter(|s| s.weight > 0.0) {
        let mut pose = rest.clone();
        clips[sample.clip].sample(sample.time_s, &mut pose).unwrap();
        poses.push((pose, f64::from(sample.weight) / total));
    }
    if poses.is_empty() {
        poses.push((rest, 1.0));
    }
    let mut models: Vec<DMat4> = Vec::new();
    for (index, joint) in joints.iter().enumerate() {
        let (mut q, mut t, mut s) = (
            DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0),
            DVec3::ZERO,
            DVec3::ZERO,
        );
        for (pose, weight) in &poses {
            let pose = &pose[index];
            let next = pose.rotation.as_dquat().normalize();
            q += next * if q.dot(next) < 0.0 { -weight } else { *weight };
            t += pose.translation.as_dvec3() * *weight;
            s += pose.scale.as_dvec3() * *weight;
        }
        let local = DMat4::from_scale_rotation_translation(s, q.normalize(), t);
        models.push(match joint.parent {
            NO_PARENT => local,
            parent => models[usize::from(parent)] * local,
        });
    }
    let entries = character.palette().iter();
    entries
        .map(|entry| models[usize::from(entry.joint)] * affine(&entry.inverse_bind))
        .collect()
}

/// How far two palettes move the corners of what their entries influence apart, over what is allowed.
fn over(character: &Character, got: &[Mat3x4], want: impl Fn(usize, DVec3) -> DVec3) -> f64 {
    let mut worst: f64 = 0.0;
    for (index, (entry, got)) in character.palette().iter().zip(got).enumerate() {
        for corner in [entry.bounds.min, entry.bounds.max, entry.bounds.center()] {
            let point = corner.as_dvec3();
            let (at, sum) = image(got, point);
            let off = (at - want(index, point)).length() / (ROUNDING * (sum + size(character)));
            worst = if off.is_nan() {
                f64::INFINITY
            } else {
                worst.max(off)
            };
        }
    }
    worst
}

#[test]
fn blends_are_what_they_are_said_to_be_in_batches_of_any_size() {
    let mut rng = Rng::new(17);
    for model in models() {
        let character = &model.character;
        let clips = clips(character);
        let entries = character.palette().len();
        let mut worst = [0.0_f64; 2];
        for count in 0..20 {
            let instances: Vec<_> = (0..count).map(|_| instance(&mut rng, &clips)).collect();
            let all = both(character).map(|p| palettes(&p, character, &clips, &instances));
            for (number, instance) in instances.iter().enumerate() {
                let mine = number * entries..(number + 1) * entries;
                let want = blended(character, &clips, instance);
                for got in &all {
                    let off = over(character, &got[mine.clone()], |entry, point| {
                        want[entry].transform_point3(point)
                    });
                    worst[0] = worst[0].max(off);
                }
                let other = &all[1][mine.clone()];
                let off = over(character, &all[0][mine.clone()], |e, p| {
                    image(&other[e], p).0
                });
                worst[1] = worst[1].max(off);
            }
        }
        println!("{:22} {worst:.3?} of the bound", model.name);
        assert!(
            worst[0] <= 1.0 && worst[1] <= 1.0,
            "{}: {worst:?}",
            model.name
        );
    }
}

#[test]
fn an_instance_has_the_same_bits_in_any_company() {
    let mut rng = Rng::new(23);
    let character = throng::builtin::mannequin().unwrap().character;
    let clips = clips(&character);
    let entries = character.palette().len();
    let all: Vec<_> = (0..19).map(|_| instance(&mut rng, &clips)).collect();
    for poser in both(&character) {
        let together = palettes(&poser, &character, &clips, &all);
        for (number, instance) in all.iter().enumerate() {
            let alone = palettes(&poser, &character, &clips, &[*instance]);
            assert_eq!(
                alone,
                together[number * entries..][..entries],
                "instance {number}"
            );
        }
        let mut backwards = all.clone();
        backwards.reverse();
        let backwards = palettes(&poser, &character, &clips, &backwards);
        let turned: Vec<_> = backwards.chunks(entries).rev().flatten().copied().collect();
        assert_eq!(turned, together);
    }
}

#[test]
fn a_blend_of_a_pose_with_itself_is_the_pose_and_order_does_not_matter() {
    let character = throng::builtin::mannequin().unwrap().character;
    let clips = clips(&character);
    let sample = |clip: usize, time_s, weight| ClipSample {
        clip,
        time_s,
        weight,
        mask: None,
        level: 0,
    };
    let last = clips.len() - 1;
    let (a, b, c) = (
        sample(0, 0.3, 0.7),
        sample(last, 0.9, 1.1),
        sample(0, 0.55, 0.4),
    );
    let pairs: [(&[ClipSample], &[ClipSample]); 4] = [
        (&[a, a, a], &[sample(0, 0.3, 1.0)]),
        (&[a, b, c], &[c, a, b]),
        (&[a, b], &[b, a]),
        (&[a, sample(usize::MAX, f64::NAN, 0.0), b], &[a, b]),
    ];
    for poser in both(&character) {
        for (one, other) in pairs {
            let [one, other] = [one, other].map(|samples| {
                let instance = BatchInstance::blend(samples).unwrap();
                palettes(&poser, &character, &clips, &[instance])
            });
            let off = over(&character, &one, |entry, point| {
                image(&other[entry], point).0
            });
            assert!(off <= 1.0, "{off}");
        }
    }
}
