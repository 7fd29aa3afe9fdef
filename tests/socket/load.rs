//! What is played, and how it looks: by the stages for whole skeletons, and in `f64`.

use crate::reference::maths::{self, M4};
use crate::reference::random;
use crate::reference::rng::Rng;
use throng::character::{Affine, Character, Transform};
use throng::glam::Vec3;
use throng::import::ImportOptions;
use throng::pose::{
    AdditiveReference, BLEND_THRESHOLD, Clip, ClipOptions, ClipSample, Mask, PoseLayer, Samples,
    blend, model_pose,
};

/// A character, clips of it, of which the last is additive, and masks.
pub(crate) struct Load {
    pub(crate) character: Character,
    pub(crate) clips: Vec<Clip>,
    pub(crate) masks: Vec<Mask>,
}

pub(crate) fn loads() -> Vec<Load> {
    let random =
        (0..10).map(|seed| random::character(100 + seed).build(&ImportOptions::curves_only()));
    let random = random.map(|built| built.unwrap().character);
    let mannequin = throng::builtin::mannequin_with(&ImportOptions::curves_only())
        .unwrap()
        .character;
    let characters = std::iter::once(mannequin).chain(random);
    let loads = characters.enumerate().map(|(number, character)| {
        let options = ClipOptions::default();
        let clips = character.curves().iter().take(3);
        let clips = clips.map(|clip| Clip::new(&character, clip, &options).unwrap());
        let mut clips: Vec<Clip> = clips.collect();
        let first = AdditiveReference::Frame { time_s: 0.1 };
        let raw = &character.curves()[1];
        // A scale of 0 has no difference.
        clips.extend(Clip::additive(&character, raw, &first, &options).ok());
        let mut rng = Rng::new(number as u64);
        let joints = character.skeleton().len();
        let mut mask = || {
            let weights = (0..joints).map(|_| rng.range(-0.5, 1.0).max(0.0)).collect();
            Mask::from_weights(weights).unwrap()
        };
        let masks = vec![mask(), mask()];
        Load {
            character,
            clips,
            masks,
        }
    });
    loads.collect()
}

impl Load {
    /// What an instance may play.
    pub(crate) fn samples(&self, rng: &mut Rng) -> Vec<ClipSample> {
        let mut level = 0;
        let count = rng.below(6);
        let samples = (0..count).map(|_| {
            level += rng.below(2) as u8;
            let clip = rng.below(self.clips.len());
            let sample = ClipSample::new(clip, f64::from(rng.range(-1.0, 4.0)));
            let sample = sample
                .weighted(rng.range(-0.2, 1.0).max(0.0))
                .on_level(level);
            if rng.chance(3) {
                sample.masked(rng.below(2) as u16)
            } else {
                sample
            }
        });
        samples.collect()
    }

    pub(crate) fn of<'a>(&'a self, samples: &'a [ClipSample]) -> Samples<'a> {
        Samples {
            masks: &self.masks,
            ..Samples::new(&self.clips, samples)
        }
    }

    pub(crate) fn rest(&self) -> Vec<Transform> {
        let joints = self.character.skeleton().joints().iter();
        joints.map(|joint| joint.rest).collect()
    }

    /// The local poses of the samples.
    pub(crate) fn sampled(&self, samples: &[ClipSample]) -> Vec<Vec<Transform>> {
        let sampled = samples.iter().map(|sample| {
            let mut pose = self.rest();
            self.clips[sample.clip]
                .sample(sample.time_s, &mut pose)
                .unwrap();
            pose
        });
        sampled.collect()
    }

    /// The whole skeleton, by the stages.
    pub(crate) fn whole(&self, samples: &[ClipSample]) -> Vec<Affine> {
        let poses = self.sampled(samples);
        let layers = samples.iter().zip(&poses).map(|(sample, pose)| PoseLayer {
            weight: sample.weight,
            mask: sample.mask.map(|mask| &self.masks[usize::from(mask)]),
            additive: self.clips[sample.clip].is_additive(),
            level: sample.level,
            ..PoseLayer::new(pose)
        });
        let layers: Vec<_> = layers.collect();
        let mut local = self.rest();
        blend(&self.rest(), &layers, BLEND_THRESHOLD, &mut local).unwrap();
        let mut model = vec![Affine::IDENTITY; local.len()];
        model_pose(self.character.skeleton(), &local, &mut model).unwrap();
        model
    }

    /// A joint by the rule of blending, in `f64`.
    pub(crate) fn exact(&self, samples: &[ClipSample], joint: u16) -> M4 {
        let index = usize::from(joint);
        let poses = self.sampled(samples);
        let of = |t: &Transform| {
            let wide = |v: Vec3| v.to_array().map(f64::from);
            let r = t.rotation.to_array().map(f64::from);
            (wide(t.translation), r, wide(t.scale))
        };
        let (mut t, mut r, mut s) = of(&self.rest()[index]);
        for level in 0..=u8::MAX {
            let own = samples.iter().zip(&poses).filter(|(k, _)| k.level == level);
            let own = own.map(|(k, pose)| {
                let mask = k
                    .mask
                    .map_or(1.0, |m| self.masks[usize::from(m)].weights()[index]);
                let additive = self.clips[k.clip].is_additive();
                (f64::from(k.weight * mask), of(&pose[index]), additive)
            });
            let own: Vec<_> = own.filter(|own| own.0 > 0.0).collect();
            let plain: Vec<_> = own.iter().filter(|own| !own.2).collect();
            let sum: f64 = plain.iter().map(|own| own.0).sum();
            if !plain.is_empty() {
                let threshold = if level == 0 {
                    f64::from(BLEND_THRESHOLD)
                } else {
                    1.0
                };
                let (mut at, mut ar, mut a_s) = ([0.0; 3], [0.0; 4], [0.0; 3]);
                let below = (threshold - sum).max(0.0);
                let all = plain.iter().map(|own| (own.0, own.1));
                // What lies below comes first: it says to which half space rotations are turned.
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
