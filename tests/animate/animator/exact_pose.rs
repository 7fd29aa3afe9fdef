//! The pose of the reference actor, blended in `f64` from samples of its clips.

use super::exact::{Exact, Voice};
use throng::glam::{DQuat, DVec3};
use throng::motion::LoopMode;
use throng::skeleton::Transform;

/// A joint's transform, with its tolerance.
#[derive(Debug, Clone, Copy)]
pub(super) struct Joint {
    translation: DVec3,
    rotation: DQuat,
    scale: DVec3,
    /// The factor by which blends multiply an error of the rotation.
    gain: f64,
    /// True if two rotations are nearly half a turn apart, so that rounding decides the direction.
    shaky: bool,
}

impl Joint {
    fn new(transform: &Transform) -> Self {
        Self {
            translation: transform.translation.as_dvec3(),
            rotation: transform.rotation.as_dquat(),
            scale: transform.scale.as_dvec3(),
            gain: 1.0,
            shaky: false,
        }
    }

    /// The error of a transform, as a fraction of the tolerance. `None` if it cannot be known.
    pub(super) fn off(&self, got: &Transform) -> Option<f64> {
        let rotation = got.rotation.as_dquat();
        let apart = (rotation - self.rotation)
            .length()
            .min((rotation + self.rotation).length());
        let translation = (got.translation.as_dvec3() - self.translation).length();
        let scale = (got.scale.as_dvec3() - self.scale).length();
        let off = (apart / self.gain).max(translation).max(scale) / BOUND;
        (!self.shaky).then_some(off)
    }
}

/// The tolerance of a joint.
///
/// Translations are below 2 m and rotations have length 1. Each of some ten voices on three layers
/// is added with a weight in `f32`. That makes some 16 roundings of 6e-8. The largest error seen is
/// 4.2e-7.
const BOUND: f64 = 1e-6;

/// Layer 0 hides the rest pose from this weight on.
const THRESHOLD: f64 = 0.999;

fn clip_time_s(voice: &Voice, clip_s: f64, duration_s: f64) -> f64 {
    if duration_s <= 0.0 {
        return 0.0;
    }
    match voice.loop_mode {
        LoopMode::Loop => clip_s.rem_euclid(duration_s),
        LoopMode::Once => clip_s.max(0.0).min(duration_s),
        LoopMode::PingPong => {
            let time_s = clip_s.rem_euclid(2.0 * duration_s);
            if time_s > duration_s {
                2.0 * duration_s - time_s
            } else {
                time_s
            }
        }
    }
}

/// A weighted mean over the transform below.
fn mean(below: Joint, least: f64, parts: &[(f64, Joint)]) -> Joint {
    let total: f64 = parts.iter().map(|(weight, _)| weight).sum();
    if total <= 0.0 {
        return below;
    }
    let mut all = parts.to_vec();
    if total < least {
        all.insert(0, (least - total, below));
    }
    let whole = total.max(least);
    let (mut translation, mut scale) = (DVec3::ZERO, DVec3::ZERO);
    let mut sum = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);
    let (mut shaky, mut gain) = (below.shaky, below.gain);
    for (weight, joint) in &all {
        translation += joint.translation * (weight / whole);
        scale += joint.scale * (weight / whole);
        let dot = sum.dot(joint.rotation);
        shaky |= dot.abs() < 1e-3 * sum.length();
        sum += joint.rotation * (if dot < 0.0 { -weight } else { *weight } / whole);
    }
    gain *= (1.0 / sum.length()).max(1.0);
    Joint {
        translation,
        rotation: sum.normalize(),
        scale,
        gain,
        shaky,
    }
}

/// Adds a difference on top.
fn add(mut joint: Joint, weight: f64, difference: &Joint) -> Joint {
    let turn = difference.rotation;
    let turn = if turn.w < 0.0 { -turn } else { turn };
    let part = DQuat::IDENTITY * (1.0 - weight) + turn * weight;
    joint.translation += difference.translation * weight;
    joint.rotation *= part.normalize();
    joint.gain *= (1.0 / part.length()).max(1.0);
    joint.scale *= DVec3::ONE + (difference.scale - DVec3::ONE) * weight;
    joint
}

impl Exact<'_> {
    /// The present local pose.
    pub(super) fn pose(&self) -> Vec<Joint> {
        let world = self.world;
        let mut pose: Vec<Joint> = world.rest().iter().map(Joint::new).collect();
        let mut layers: Vec<u8> = self.voices.iter().map(|voice| voice.layer).collect();
        layers.sort_unstable();
        layers.dedup();
        for layer in layers {
            let least = if layer == 0 { THRESHOLD } else { 1.0 };
            let voices = self.voices.iter().filter(|voice| voice.layer == layer);
            let parts: Vec<_> = voices.map(|voice| self.part(voice)).collect();
            for (joint, value) in pose.iter_mut().enumerate() {
                let of = |(weights, poses, _): &(Vec<f64>, Vec<Transform>, bool)| {
                    (weights[joint], Joint::new(&poses[joint]))
                };
                let plain = parts.iter().filter(|(_, _, added)| !added).map(of);
                *value = mean(*value, least, &plain.collect::<Vec<_>>());
                for (weight, difference) in parts.iter().filter(|(_, _, added)| *added).map(of) {
                    *value = add(*value, weight, &difference);
                }
            }
        }
        pose
    }

    /// The weight of each joint, the pose, and true if it is additive.
    fn part(&self, voice: &Voice) -> (Vec<f64>, Vec<Transform>, bool) {
        let world = self.world;
        let weight = voice.fade.at(self.local_s);
        let of_joint = |joint: usize| {
            let of_mask = voice
                .mask
                .map_or(1.0, |mask| world.masks[mask].weights[joint]);
            weight * f64::from(of_mask)
        };
        let weights = (0..world.joints()).map(of_joint).collect();
        let Some(clip) = voice.clip.map(|clip| &world.clips[clip]) else {
            return (weights, self.own_pose.clone(), false);
        };
        let clip_s = voice.clip_time_at(self.local_s);
        let mut local = world.rest();
        let time_s = clip_time_s(voice, clip_s, clip.duration_s());
        clip.sample(time_s, &mut local).unwrap();
        (weights, local, clip.is_additive())
    }
}
