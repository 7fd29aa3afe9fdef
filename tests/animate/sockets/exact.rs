//! The samples of an actor, and its joints by the rule of blending, in `f64`.

use crate::reference::batch::Sample;
use crate::reference::handles::Handles;
use crate::reference::maths::{self, M4};
use crate::reference::random;
use crate::reference::rng::Rng;
use std::sync::LazyLock;
use throng::Id;
use throng::animator::{ActorId, Animator, Play, PlayRecord};
use throng::character::{AdditiveDesc, AnimationDesc, Character, PoseReference};
use throng::clip::Clip;
use throng::glam::Vec3;
use throng::import::{ImportOptions, RawCharacter};
use throng::motion::LoopMode;
use throng::skeleton::Mask;
use throng::skeleton::Transform;
use throng::state_machine::{MaskBranchDesc, MaskDesc};

/// The weight that layer 0 of an animator needs to hide the rest pose.
const THRESHOLD: f32 = 0.999;

/// The number of layers that the actors play on.
const LAYERS: u8 = 3;

/// A character with two masks and, if possible, an additive clip.
pub(crate) struct Load {
    pub(crate) character: Character,
}

/// The loads of all tests: building them takes most of the time of each test.
pub(crate) fn loads() -> &'static [Load] {
    static LOADS: LazyLock<Vec<Load>> = LazyLock::new(make_loads);
    &LOADS
}

fn make_loads() -> Vec<Load> {
    let random = (0..6).map(|seed| {
        let mut raw = random::character(100 + seed);
        for (number, node) in raw.nodes.iter_mut().enumerate() {
            node.name = format!("node {number}").into();
        }
        for (number, clip) in raw.animations.iter_mut().enumerate() {
            clip.name = format!("clip {number}").into();
        }
        raw.build(&with_curves()).unwrap().character
    });
    let mannequin = RawCharacter::mannequin().build(&with_curves());
    let characters = std::iter::once(mannequin.unwrap().character).chain(random);
    let loads = characters.enumerate().map(|(number, character)| {
        let mut rng = Rng::new(number as u64);
        let joints = character.skeleton().joints();
        let mut mask = |name: &str| MaskDesc {
            name: name.into(),
            branches: (0..3)
                .map(|_| MaskBranchDesc {
                    joint: joints[rng.below(joints.len())].name.to_string(),
                    weight: rng.range(-0.5, 1.0).max(0.0),
                    feather: 0,
                })
                .collect(),
        };
        let masks = vec![mask("one"), mask("two")];
        let additive = AdditiveDesc {
            name: Some("difference".into()),
            clip: character.clips()[1].name().into(),
            reference: PoseReference::Start,
        };
        let desc = |additive| AnimationDesc {
            masks: masks.clone(),
            additive,
            ..AnimationDesc::default()
        };
        // A scale of 0 cannot be the reference of a difference.
        let made = character.clone().with_animation(&desc(vec![additive]));
        let made = made.or_else(|_| character.clone().with_animation(&desc(Vec::new())));
        Load {
            character: made.unwrap(),
        }
    });
    loads.collect()
}

impl Load {
    pub(crate) fn clips(&self) -> &[Clip] {
        self.character.clips()
    }

    pub(crate) fn masks(&self) -> &[Mask] {
        self.character.masks()
    }

    /// An actor that plays random clips on three layers, in the middle of some fades.
    pub(crate) fn actor(&self, rng: &mut Rng) -> (Animator, ActorId) {
        let mut animator = Animator::new(&self.character).unwrap();
        let id = animator.add(Play::REST).unwrap();
        for frame in 0..rng.below(6) {
            animator.update(0.1 * frame as f64).unwrap();
            let clip = self.clips()[rng.below(self.clips().len())].name();
            let modes = [LoopMode::Loop, LoopMode::Once, LoopMode::PingPong];
            let play = Play::new(clip)
                .fade_s(rng.range(0.0, 2.0))
                .weight(rng.range(0.1, 1.0))
                .offset_s(rng.range(-1.0, 4.0).into())
                .speed(rng.range(-1.0, 2.0).into())
                .loop_mode(modes[rng.below(3)])
                .layer(rng.below(usize::from(LAYERS)) as u8);
            let masks = ["one", "two"];
            let play = match rng.below(3) {
                0 => play.mask(masks[rng.below(2)]),
                _ => play,
            };
            animator.live_mut(id).play(play).unwrap();
        }
        (animator, id)
    }

    /// The samples of the actor at a time, for the batch.
    pub(crate) fn samples(&self, animator: &Animator, id: ActorId, time_s: f64) -> Vec<Sample> {
        let actor = animator.live(id);
        let records = actor.records().iter();
        let samples = records.map(|record| {
            let clip = usize::from(record.clip);
            Sample {
                clip,
                time_s: record.clip_time_s(time_s, self.clips()[clip].duration_s()),
                weight: record.weight_at(time_s),
                mask: (record.mask != PlayRecord::NO_MASK).then_some(Id::new(record.mask)),
                layer: record.layer,
            }
        });
        samples.collect()
    }

    fn rest(&self) -> Vec<Transform> {
        self.character.skeleton().rest_pose()
    }

    /// The local poses of the samples.
    pub(crate) fn sampled(&self, samples: &[Sample]) -> Vec<Vec<Transform>> {
        let sampled = samples.iter().map(|sample| {
            let mut pose = self.rest();
            self.clips()[sample.clip]
                .sample(sample.time_s, &mut pose)
                .unwrap();
            pose
        });
        sampled.collect()
    }

    /// A joint by the rule of blending, in `f64`.
    pub(crate) fn exact(&self, samples: &[Sample], poses: &[Vec<Transform>], joint: u16) -> M4 {
        let index = usize::from(joint);
        let of = |t: &Transform| {
            let wide = |v: Vec3| v.to_array().map(f64::from);
            let r = t.rotation.to_array().map(f64::from);
            (wide(t.translation), r, wide(t.scale))
        };
        let (mut t, mut r, mut s) = of(&self.rest()[index]);
        for layer in 0..LAYERS {
            let own = samples.iter().zip(poses).filter(|(k, _)| k.layer == layer);
            let own = own.map(|(k, pose)| {
                let mask = k
                    .mask
                    .map_or(1.0, |m| self.masks()[usize::from(m)].weights[index]);
                let additive = self.clips()[k.clip].is_additive();
                (f64::from(k.weight * mask), of(&pose[index]), additive)
            });
            let own: Vec<_> = own.filter(|own| own.0 > 0.0).collect();
            let plain: Vec<_> = own.iter().filter(|own| !own.2).collect();
            let sum: f64 = plain.iter().map(|own| own.0).sum();
            if !plain.is_empty() {
                let threshold = if layer == 0 {
                    f64::from(THRESHOLD)
                } else {
                    1.0
                };
                let (mut at, mut ar, mut a_s) = ([0.0; 3], [0.0; 4], [0.0; 3]);
                let below = (threshold - sum).max(0.0);
                let all = plain.iter().map(|own| (own.0, own.1));
                // The level below comes first, because it decides the half space of all rotations.
                for (w, (pt, pr, ps)) in std::iter::once((below, (t, r, s))).chain(all) {
                    let dot: f64 = (0..4).map(|k| ar[k] * pr[k]).sum();
                    let sign = if dot < 0.0 { -1.0 } else { 1.0 };
                    at = [0, 1, 2].map(|k| at[k] + w * pt[k]);
                    ar = [0, 1, 2, 3].map(|k| ar[k] + sign * w * pr[k]);
                    a_s = [0, 1, 2].map(|k| a_s[k] + w * ps[k]);
                }
                let whole = sum.max(threshold);
                (t, r, s) = (
                    at.map(|v| v / whole),
                    maths::unit4(ar),
                    a_s.map(|v| v / whole),
                );
            }
            for (w, (dt, dr, ds), _) in own.iter().filter(|own| own.2) {
                let sign = if dr[3] < 0.0 { -1.0 } else { 1.0 };
                let mut part = dr.map(|v| v * sign * w);
                part[3] += 1.0 - w;
                t = [0, 1, 2].map(|k| t[k] + w * dt[k]);
                r = product(r, maths::unit4(part));
                s = [0, 1, 2].map(|k| s[k] * (1.0 + w * (ds[k] - 1.0)));
            }
        }
        maths::trs(t, r, s)
    }
}

fn product(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    let ([x, y, z, w], [p, q, r, s]) = (a, b);
    [
        w * p + x * s + y * r - z * q,
        w * q - x * r + y * s + z * p,
        w * r + x * q - y * p + z * s,
        w * s - x * p - y * q - z * r,
    ]
}

fn with_curves() -> ImportOptions {
    ImportOptions {
        curves: true,
        ..ImportOptions::default()
    }
}
