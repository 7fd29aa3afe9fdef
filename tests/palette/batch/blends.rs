//! Blends of any number of clips, with masks and layers, in batches of any size, at every SIMD
//! level.

use super::load::{Model, ROUNDING, affine, image, models, palettes, size, with_clip};
use crate::reference::batch::{Batch, FULL_WEIGHT, Sample};
use crate::reference::rig::{chain, keys};
use crate::reference::rng::Rng;
use throng::character::{AdditiveDesc, AnimationDesc, Character, PoseReference};
use throng::clip::{Interpolation, Track, TrackValues};
use throng::glam::{DMat4, DQuat, DVec3, Quat};
use throng::palette::Mat3x4;
use throng::skeleton::{Mask, Transform};
use throng::state_machine::{MaskBranchDesc, MaskDesc};
use throng::{Id, SimdLevel};

/// The number of masks.
const MASKS: usize = 3;

/// The model with masks of joints and those below them, and an additive version of its first clip.
fn layered(rng: &mut Rng, model: &Model) -> Character {
    let joints = model.character.skeleton().joints();
    let mut mask = |number: usize| MaskDesc {
        name: format!("mask {number}"),
        branches: (0..number * joints.len().min(4))
            .map(|_| MaskBranchDesc {
                joint: joints[rng.below(joints.len())].name.to_string(),
                weight: [0.0, 1.0, rng.range(0.0, 1.0)][rng.below(3)],
                feather: 0,
            })
            .collect(),
    };
    let masks: Vec<_> = (0..MASKS).map(&mut mask).collect();
    let clips = model.character.clips().iter();
    let named = clips.map(|clip| clip.name()).find(|name| !name.is_empty());
    let additive = named.map(|clip| AdditiveDesc {
        name: Some("the difference".into()),
        clip: clip.into(),
        reference: PoseReference::Start,
    });
    let desc = |additive: Option<AdditiveDesc>| AnimationDesc {
        masks: masks.clone(),
        additive: additive.into_iter().collect(),
        ..AnimationDesc::default()
    };
    // A scale of 0 cannot be the reference of a difference.
    let made = model.character.clone().with_animation(&desc(additive));
    made.or_else(|_| model.character.clone().with_animation(&desc(None)))
        .unwrap()
}

/// Random clips at random times and weights, and now and then the rest pose.
///
/// Half of the samples have masks and layers.
fn instance(rng: &mut Rng, character: &Character) -> Vec<Sample> {
    let clips = character.clips();
    if clips.is_empty() || rng.chance(9) {
        return Vec::new();
    }
    let count = 1 + rng.below(5);
    let (layered, mut layer) = (rng.chance(2), 0);
    let sample = |_| {
        let clip = rng.below(clips.len());
        let time_s = f64::from(rng.range(-0.2, 1.2)) * clips[clip].duration_s();
        let weight = match rng.below(8) {
            0 => 0.0,
            1 => rng.range(0.001, 0.04),
            _ => rng.range(0.05, 3.0),
        };
        layer += u8::from(layered && rng.chance(3));
        let sample = Sample::new(clip, time_s).weighted(weight).on_layer(layer);
        let mask = rng.below(2 * MASKS) as u16;
        if layered && usize::from(mask) < character.masks().len() {
            sample.masked(mask)
        } else {
            sample
        }
    };
    (0..count).map(sample).collect()
}

/// A local pose in `f64`.
#[derive(Clone, Copy)]
struct Local {
    q: DQuat,
    t: DVec3,
    s: DVec3,
}

impl Local {
    fn new(transform: &Transform) -> Self {
        Self {
            q: transform.rotation.as_dquat().normalize(),
            t: transform.translation.as_dvec3(),
            s: transform.scale.as_dvec3(),
        }
    }

    fn times(self, by: f64) -> Self {
        Self {
            q: self.q * by,
            t: self.t * by,
            s: self.s * by,
        }
    }

    fn add(&mut self, other: Self, weight: f64) {
        let near = self.q.dot(other.q) >= 0.0;
        self.q += other.q * if near { weight } else { -weight };
        self.t += other.t * weight;
        self.s += other.s * weight;
    }
}

/// A clip's transform of a joint, its weight there, and true if it is additive.
struct Part {
    layer: u8,
    weight: f64,
    pose: Local,
    additive: bool,
}

/// The rule of layers, for one joint.
fn joint(rest: Local, parts: &[Part]) -> Local {
    let mut below = rest;
    for layer in parts.chunk_by(|a, b| a.layer == b.layer) {
        let full = if layer[0].layer == 0 {
            f64::from(FULL_WEIGHT)
        } else {
            1.0
        };
        let own = || layer.iter().filter(|part| !part.additive);
        if own().count() > 0 {
            let sum: f64 = own().map(|part| part.weight).sum();
            let mut blend = below.times((full - sum).max(0.0));
            for part in own() {
                blend.add(part.pose, part.weight);
            }
            below = blend.times(1.0 / sum.max(full));
            below.q = below.q.normalize();
        }
        for Part { weight, pose, .. } in layer.iter().filter(|part| part.additive) {
            let turn = if pose.q.w < 0.0 { -pose.q } else { pose.q };
            let turn = (DQuat::IDENTITY * (1.0 - weight) + turn * *weight).normalize();
            below.q *= turn;
            below.t += pose.t * *weight;
            below.s *= DVec3::ONE + (pose.s - DVec3::ONE) * *weight;
        }
    }
    below
}

/// The model pose of an instance, in `f64`.
fn blended(character: &Character, samples: &[Sample]) -> Vec<DMat4> {
    let (clips, masks) = (character.clips(), character.masks());
    let joints = character.skeleton().joints();
    let rest: Vec<Transform> = joints.iter().map(|joint| joint.rest).collect();
    let mut poses = Vec::new();
    for sample in samples.iter().filter(|s| s.weight > 0.0) {
        let mut pose = rest.clone();
        clips[sample.clip].sample(sample.time_s, &mut pose).unwrap();
        poses.push((*sample, pose));
    }
    let mut models: Vec<DMat4> = Vec::new();
    for (index, info) in joints.iter().enumerate() {
        let one = |(sample, pose): &(Sample, Vec<Transform>)| {
            let mask = |mask: Id<Mask>| masks[usize::from(mask)].weights[index];
            Part {
                layer: sample.layer,
                weight: f64::from(sample.weight) * f64::from(sample.mask.map_or(1.0, mask)),
                pose: Local::new(&pose[index]),
                additive: clips[sample.clip].is_additive(),
            }
        };
        let all: Vec<_> = poses.iter().map(one).collect();
        let Local { q, t, s } = joint(Local::new(&rest[index]), &all);
        let local = DMat4::from_scale_rotation_translation(s, q, t);
        models.push(match info.parent {
            None => local,
            Some(parent) => models[usize::from(parent)] * local,
        });
    }
    models
}

/// The largest distance between the corners of boxes under two palettes, relative to the bound.
///
/// The boxes hold the vertices that an entry influences.
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
fn blends_are_what_they_are_said_to_be_at_every_level() {
    let mut rng = Rng::new(17);
    for model in models() {
        let character = &layered(&mut rng, model);
        let entries = character.palette();
        let levels: Vec<SimdLevel> = SimdLevel::available().collect();
        let mut worst = vec![[0.0_f64; 2]; levels.len()];
        for count in [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33] {
            let instances: Vec<_> = (0..count).map(|_| instance(&mut rng, character)).collect();
            let made = |level: &SimdLevel| palettes(character, *level, &instances);
            let all: Vec<_> = levels.iter().map(made).collect();
            for (number, samples) in instances.iter().enumerate() {
                let mine = number * entries.len()..(number + 1) * entries.len();
                let models = blended(character, samples);
                let other = &all[0][mine.clone()];
                for (got, worst) in all.iter().zip(&mut worst) {
                    let got = &got[mine.clone()];
                    let off = over(character, got, |index, point| {
                        let entry = &entries[index];
                        let bound = affine(&entry.inverse_bind).transform_point3(point);
                        models[usize::from(entry.joint)].transform_point3(bound)
                    });
                    worst[0] = worst[0].max(off);
                    let off = over(character, got, |e, p| image(&other[e], p).0);
                    worst[1] = worst[1].max(off);
                }
            }
        }
        println!("{:22} {worst:.3?} of the bound", model.name);
        let within = |worst: &[f64; 2]| worst.iter().all(|off| *off <= 1.0);
        assert!(worst.iter().all(within), "{}: {worst:?}", model.name);
    }
}

/// The built-in character, with masks and an additive clip.
fn mannequin(rng: &mut Rng) -> Character {
    let built_in = models().iter().find(|model| model.name == "built-in");
    layered(rng, built_in.unwrap())
}

#[test]
fn an_instance_has_the_same_bits_in_any_company() {
    let mut rng = Rng::new(23);
    let character = mannequin(&mut rng);
    let entries = character.palette().len();
    let all: Vec<_> = (0..43).map(|_| instance(&mut rng, &character)).collect();
    for level in SimdLevel::available() {
        let together = palettes(&character, level, &all);
        for (number, instance) in all.iter().enumerate() {
            let alone = palettes(&character, level, &[instance]);
            let mine = &together[number * entries..][..entries];
            assert_eq!(alone, mine, "instance {number}, {level}");
        }
        let mut backwards = all.clone();
        backwards.reverse();
        let backwards = palettes(&character, level, &backwards);
        let turned: Vec<_> = backwards.chunks(entries).rev().flatten().copied().collect();
        assert_eq!(turned, together);
    }
}

#[test]
fn a_blend_of_a_pose_with_itself_is_the_pose_and_order_does_not_matter() {
    let character = mannequin(&mut Rng::new(1));
    let sample = |clip, time_s, weight| Sample::new(clip, time_s).weighted(weight);
    let (a, b, c) = (
        sample(0, 0.3, 0.7),
        sample(1, 0.9, 1.1),
        sample(0, 0.55, 0.4),
    );
    let whole = sample(0, 0.3, 1.0);
    let pairs: [(&[Sample], &[Sample]); 6] = [
        (&[a, a, a], &[whole]),
        (&[a; 9], &[whole]),
        (&[a, b, c], &[c, a, b]),
        (&[a, b], &[b, a]),
        (&[a, sample(2, f64::NAN, 0.0), b], &[a, b]),
        // A layer that covers those below changes nothing.
        (&[whole], &[b, whole.on_layer(3)]),
    ];
    for level in SimdLevel::available() {
        for (one, other) in pairs {
            let [one, other] = [one, other].map(|one| palettes(&character, level, &[one]));
            let off = over(&character, &one, |entry, point| {
                image(&other[entry], point).0
            });
            assert!(off <= 1.0, "{off}, {level}");
        }
    }
}

#[test]
fn no_turn_added_by_any_weight_is_no_turn() {
    let turn = [0.0, 0.4].map(Quat::from_rotation_z);
    // One joint of the block rotates, so that the others are added too.
    let track = Track {
        joint: Id::new(2),
        values: TrackValues::Rotation(keys(Interpolation::Linear, [0.0, 1.0], turn)),
    };
    let (_, character) = with_clip(chain(5), vec![track]);
    let nod = AdditiveDesc {
        name: None,
        clip: "made".into(),
        reference: PoseReference::Rest,
    };
    let desc = AnimationDesc {
        additive: vec![nod],
        ..AnimationDesc::default()
    };
    let character = character.with_animation(&desc).unwrap();
    for level in SimdLevel::available() {
        for weight in [
            0.0,
            1e-45,
            0.5,
            1.0,
            2.0,
            1e4,
            1e7,
            1e8,
            1e12,
            1e30,
            f32::MAX,
        ] {
            let nod = [Sample::new(0, 0.7).weighted(weight)];
            let local = Batch::new(&character, level, &[nod]).local_poses();
            for (joint, local) in local.iter().enumerate() {
                let w = local.rotation.w.abs();
                assert!(
                    (local.rotation.length() - 1.0).abs() < 1e-5,
                    "{joint}: {local:?}"
                );
                assert!(joint == 2 || w > 0.999_999, "{joint}, {weight}: {local:?}");
            }
        }
    }
}
