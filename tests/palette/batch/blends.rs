//! Blends of any number of clips, with masks and levels, in batches of any size, at every SIMD
//! level.

use super::load::{self, ROUNDING, affine, codes, image, models, palettes, size};
use crate::reference::rig::{chain, keys};
use crate::reference::rng::Rng;
use throng::Id;
use throng::animate::BatchPoser;
use throng::character::Character;
use throng::clip::{AdditiveReference, Clip, ClipOptions};
use throng::clip::{CurveClip, Interpolation, Track, TrackValues};
use throng::glam::{DMat4, DQuat, DVec3, Quat};
use throng::motion::{ClipSample, SampleList};
use throng::palette::Mat3x4;
use throng::skeleton::Mask;
use throng::skeleton::Transform;

/// The number of masks.
const MASKS: usize = 3;

/// Masks of no joints, of all joints, and of parts of them.
fn masks(rng: &mut Rng, joints: usize) -> Vec<Mask> {
    let mask = |_| {
        let weight = |_| match rng.below(4) {
            0 => 0.0,
            1 => 1.0,
            _ => rng.range(0.0, 1.0),
        };
        Mask::from_weights((0..joints).map(weight).collect()).unwrap()
    };
    (0..MASKS).map(mask).collect()
}

/// The character's clips, and an additive version of each.
fn clips(character: &Character) -> Vec<Clip> {
    let mut all = load::clips(character);
    let reference = AdditiveReference::Frame { time_s: 0.1 };
    for raw in character.curves() {
        let options = ClipOptions::default();
        all.extend(Clip::additive(character, raw, &reference, &options));
    }
    all
}

/// Random clips at random times and weights, and now and then the rest pose.
///
/// Half of the samples have masks and levels.
fn instance(rng: &mut Rng, clips: &[Clip]) -> Vec<ClipSample> {
    if clips.is_empty() || rng.chance(9) {
        return Vec::new();
    }
    let count = 1 + rng.below(5);
    let (layered, mut level) = (rng.chance(2), 0);
    let sample = |_| {
        let clip = rng.below(clips.len());
        let time_s = f64::from(rng.range(-0.2, 1.2)) * clips[clip].duration_s();
        let weight = match rng.below(8) {
            0 => 0.0,
            1 => rng.range(0.001, 0.04),
            _ => rng.range(0.05, 3.0),
        };
        level += u8::from(layered && rng.chance(3));
        let sample = ClipSample::new(Id::new(clip as u16), time_s).weighted(weight);
        let mask = rng.below(2 * MASKS) as u16;
        if layered && usize::from(mask) < MASKS {
            sample.masked(Id::new(mask)).on_level(level)
        } else {
            sample.on_level(level)
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
    level: u8,
    weight: f64,
    pose: Local,
    additive: bool,
}

/// The rule in the documentation of `ClipSample`, for one joint.
fn joint(rest: Local, parts: &[Part]) -> Local {
    let mut below = rest;
    for level in parts.chunk_by(|a, b| a.level == b.level) {
        let threshold = if level[0].level == 0 {
            f64::from(0.1_f32)
        } else {
            1.0
        };
        let own = || level.iter().filter(|part| !part.additive);
        if own().count() > 0 {
            let sum: f64 = own().map(|part| part.weight).sum();
            let mut blend = below.times((threshold - sum).max(0.0));
            for part in own() {
                blend.add(part.pose, part.weight);
            }
            below = blend.times(1.0 / sum.max(threshold));
            below.q = below.q.normalize();
        }
        for Part { weight, pose, .. } in level.iter().filter(|part| part.additive) {
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
fn blended(
    character: &Character,
    clips: &[Clip],
    masks: &[Mask],
    samples: &[ClipSample],
) -> Vec<DMat4> {
    let joints = character.skeleton().joints();
    let rest: Vec<Transform> = joints.iter().map(|joint| joint.rest).collect();
    let mut poses = Vec::new();
    for sample in samples.iter().filter(|s| s.weight > 0.0) {
        let mut pose = rest.clone();
        clips[sample.clip.index()]
            .sample(sample.time_s, &mut pose)
            .unwrap();
        poses.push((*sample, pose));
    }
    let mut models: Vec<DMat4> = Vec::new();
    for (index, info) in joints.iter().enumerate() {
        let one = |(sample, pose): &(ClipSample, Vec<Transform>)| {
            let mask = |mask: Id<Mask>| masks[usize::from(mask)].weights()[index];
            Part {
                level: sample.level,
                weight: f64::from(sample.weight) * f64::from(sample.mask.map_or(1.0, mask)),
                pose: Local::new(&pose[index]),
                additive: clips[sample.clip.index()].is_additive(),
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
fn blends_are_what_they_are_said_to_be_by_every_code() {
    let mut rng = Rng::new(17);
    for model in models() {
        let character = &model.character;
        let (clips, entries) = (clips(character), character.palette());
        let masks = masks(&mut rng, character.skeleton().len());
        let posers = codes(character).into_iter();
        let posers: Vec<BatchPoser> = posers.map(|p| p.with_masks(&masks).unwrap()).collect();
        let mut worst = vec![[0.0_f64; 2]; posers.len()];
        for count in [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33] {
            let instances: Vec<_> = (0..count).map(|_| instance(&mut rng, &clips)).collect();
            let made = |poser: &BatchPoser| palettes(poser, character, &clips, &instances);
            let all: Vec<_> = posers.iter().map(made).collect();
            for (number, samples) in instances.iter().enumerate() {
                let mine = number * entries.len()..(number + 1) * entries.len();
                let models = blended(character, &clips, &masks, samples);
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

#[test]
fn an_instance_has_the_same_bits_in_any_company() {
    let mut rng = Rng::new(23);
    let character = throng::import::RawCharacter::mannequin()
        .build(&throng::import::ImportOptions::curves_only())
        .unwrap()
        .character;
    let clips = clips(&character);
    let masks = masks(&mut rng, character.skeleton().len());
    let entries = character.palette().len();
    let all: Vec<_> = (0..43).map(|_| instance(&mut rng, &clips)).collect();
    for poser in codes(&character) {
        let poser = poser.with_masks(&masks).unwrap();
        let together = palettes(&poser, &character, &clips, &all);
        for (number, instance) in all.iter().enumerate() {
            let alone = palettes(&poser, &character, &clips, &[instance]);
            assert_eq!(
                alone,
                together[number * entries..][..entries],
                "instance {number}, {}",
                poser.simd_level()
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
    let character = throng::import::RawCharacter::mannequin()
        .build(&throng::import::ImportOptions::curves_only())
        .unwrap()
        .character;
    let clips = load::clips(&character);
    let sample = |clip: usize, time_s, weight| {
        ClipSample::new(Id::new(clip as u16), time_s).weighted(weight)
    };
    let last = clips.len() - 1;
    let (a, b, c) = (
        sample(0, 0.3, 0.7),
        sample(last, 0.9, 1.1),
        sample(0, 0.55, 0.4),
    );
    let ones = Mask::all(character.skeleton());
    let pairs: [(&[ClipSample], &[ClipSample]); 7] = [
        (&[a, a, a], &[sample(0, 0.3, 1.0)]),
        (&[a; 9], &[sample(0, 0.3, 1.0)]),
        (&[a, b, c], &[c, a, b]),
        (&[a, b], &[b, a]),
        (&[a, sample(usize::MAX, f64::NAN, 0.0), b], &[a, b]),
        // A mask of ones and a level that covers those below change nothing.
        (&[a, b, c], &[a.masked(Id::new(0)), b, c.masked(Id::new(0))]),
        (
            &[sample(0, 0.3, 1.0)],
            &[b, sample(0, 0.3, 1.0).on_level(3)],
        ),
    ];
    for poser in codes(&character) {
        let poser = poser.with_masks(std::slice::from_ref(&ones)).unwrap();
        for (one, other) in pairs {
            let [one, other] =
                [one, other].map(|samples| palettes(&poser, &character, &clips, &[samples]));
            let off = over(&character, &one, |entry, point| {
                image(&other[entry], point).0
            });
            assert!(off <= 1.0, "{off}, {}", poser.simd_level());
        }
    }
}

#[test]
fn no_turn_added_by_any_weight_is_no_turn() {
    let character = chain(5);
    let turn = [0.0, 0.4].map(Quat::from_rotation_z);
    // One joint of the block rotates, so that the others are added too.
    let track = Track {
        joint: Id::new(2),
        values: TrackValues::Rotation(keys(Interpolation::Linear, &[0.0, 1.0], &turn)),
    };
    let raw = CurveClip::new("nod", vec![track], character.skeleton()).unwrap();
    let reference = AdditiveReference::Rest;
    let nod = Clip::additive(&character, &raw, &reference, &ClipOptions::default()).unwrap();
    let joints = character.skeleton().len();
    for poser in codes(&character) {
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
            let mut list = SampleList::new();
            list.push([ClipSample::new(Id::new(0), 0.7).weighted(weight)]);
            let mut local = vec![Transform::IDENTITY; joints];
            let clips = std::slice::from_ref(&nod);
            poser.local_poses(clips, &list, &mut local).unwrap();
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
