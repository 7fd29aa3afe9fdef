//! The poses that a sphere must contain.

use super::rig::ReachRig;
use crate::clip::{ClipReach, Hull};
use crate::motion::Inertialisation;
use crate::skeleton::Transform;
use glam::DVec3;

/// The poses that a sphere must contain: for each joint, what it may do.
#[derive(Debug, Clone, Default)]
pub(crate) struct Poses {
    pub(super) joints: Vec<JointPoses>,
    /// Bounds of the sizes of the morph weights.
    pub(super) weights: Vec<f64>,
}

/// The range of a joint's local transforms.
#[derive(Debug, Clone, Copy)]
pub(super) struct JointPoses {
    pub(super) pivots: bool,
    /// True if its rotation or scale is near that at rest, but not exactly.
    pub(super) near: bool,
    pub(super) translation: Hull,
    /// The length of the longest translation, which can be less than that of the hull of several
    /// clips.
    pub(super) longest: f64,
    /// The least and the greatest component.
    pub(super) scale: [f64; 2],
}

impl Poses {
    /// Starts with the rest pose.
    pub(crate) fn begin(&mut self, rig: &ReachRig) {
        self.joints.clear();
        self.joints.extend(rig.joints.iter().map(|bone| JointPoses {
            pivots: false,
            near: false,
            translation: Hull::EMPTY.with(bone.rest.translation.as_dvec3()),
            longest: bone.rest.translation.as_dvec3().length(),
            scale: [
                bone.rest.scale.min_element().into(),
                bone.rest.scale.max_element().into(),
            ],
        }));
        self.weights.clear();
        self.weights
            .extend(rig.weights.iter().map(|[rest, _]| rest));
    }

    /// A joint may turn in any way.
    pub(crate) fn turn(&mut self, joint: usize) {
        if let Some(own) = self.joints.get_mut(joint) {
            own.pivots = true;
        }
    }

    /// Adds the poses of a clip that is not additive.
    pub(crate) fn mean(&mut self, clip: &ClipReach) {
        for joint in &clip.near {
            if let Some(own) = self.joints.get_mut(usize::from(*joint)) {
                own.near = true;
            }
        }
        for joint in &clip.turns {
            self.turn((*joint).into());
        }
        for moves in &clip.moves {
            if let Some(own) = self.joints.get_mut(usize::from(moves.joint)) {
                own.pivots |= moves.scales;
                let (least, greatest) = (moves.translation.least, moves.translation.greatest);
                own.translation = own.translation.with(least).with(greatest);
                own.longest = own.longest.max(moves.translation.length());
                own.scale[0] = own.scale[0].min(moves.scale[0]);
                own.scale[1] = own.scale[1].max(moves.scale[1]);
            }
        }
        for (weight, bound) in &clip.weights {
            if let Some(own) = self.weights.get_mut(usize::from(*weight)) {
                *own = own.max(*bound);
            }
        }
    }

    /// Adds an additive clip with weights from 0 to `weight`, after all that are not additive.
    pub(crate) fn add(&mut self, clip: &ClipReach, weight: f64) {
        for joint in &clip.turns {
            self.turn((*joint).into());
        }
        for moves in &clip.moves {
            if let Some(own) = self.joints.get_mut(usize::from(moves.joint)) {
                own.pivots |= moves.scales;
                own.translation.least += moves.translation.least.min(DVec3::ZERO) * weight;
                own.translation.greatest += moves.translation.greatest.max(DVec3::ZERO) * weight;
                own.longest += moves.translation.length() * weight;
                let [least, greatest] = moves.scale.map(|scale| 1.0 + weight * (scale - 1.0));
                own.multiply([least.min(1.0), greatest.max(1.0)]);
            }
        }
        for (own, bound) in &clip.weights {
            if let Some(own) = self.weights.get_mut(usize::from(*own)) {
                *own += bound * weight;
            }
        }
    }

    pub(crate) fn pose(&mut self, rig: &ReachRig, local: &[Transform]) {
        for ((own, pose), bone) in self.joints.iter_mut().zip(local).zip(&rig.joints) {
            own.pivots |= pose.rotation != bone.rest.rotation || pose.scale != bone.rest.scale;
            own.translation = own.translation.with(pose.translation.as_dvec3());
            own.longest = own.longest.max(pose.translation.as_dvec3().length());
            own.scale[0] = own.scale[0].min(pose.scale.min_element().into());
            own.scale[1] = own.scale[1].max(pose.scale.max_element().into());
        }
    }

    /// Adds the offsets of an inertialised transition to everything else.
    pub(crate) fn offset(&mut self, transition: &Inertialisation) {
        for (own, [translation, turn, scale]) in self.joints.iter_mut().zip(transition.reaches()) {
            own.pivots |= turn > 0.0 || scale > 0.0;
            own.translation.least -= translation;
            own.translation.greatest += translation;
            own.longest += translation;
            own.scale[0] -= scale;
            own.scale[1] += scale;
        }
        for (own, offset) in self.weights.iter_mut().zip(transition.weight_reaches()) {
            *own += offset;
        }
    }
}

impl JointPoses {
    /// The least and the greatest size of a component of the scale.
    pub(super) fn scale_sizes(&self) -> [f64; 2] {
        let [a, b] = self.scale;
        let least = if a <= 0.0 && b >= 0.0 {
            0.0
        } else {
            a.abs().min(b.abs())
        };
        [least, a.abs().max(b.abs())]
    }

    /// Multiplies the range of scales by one that contains 1.
    fn multiply(&mut self, [least, greatest]: [f64; 2]) {
        let [a, b] = self.scale;
        let products = [a * least, a * greatest, b * least, b * greatest];
        self.scale = [
            products.into_iter().fold(f64::INFINITY, f64::min),
            products.into_iter().fold(f64::NEG_INFINITY, f64::max),
        ];
    }
}
