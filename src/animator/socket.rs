//! Positions of joints and sockets of actors at any time.

use super::Animator;
use super::actors::ActorState;
use super::evaluate::{alone, clip};
use super::state::THRESHOLD;
use crate::error::Result;
use crate::id::Id;
use crate::motion::{JointPart, blend_joint};
use crate::skeleton::Transform;
use glam::Affine3A;

impl Animator {
    /// The transform to character space from the space of a joint, which must exist.
    pub(super) fn model_of(
        &self,
        actor: &ActorState,
        wanted: usize,
        local_s: f64,
    ) -> Result<Affine3A> {
        let joints = self.library.skeleton.joints();
        let swings = actor.springs.is_on() && self.library.springs.moves(wanted);
        if swings || !actor.goals.is_empty() {
            return self.solved_joint(actor, wanted, local_s);
        }
        if let Some(own) = alone(actor, &self.pools, local_s) {
            return Ok(own[wanted]);
        }
        let mut model = self.local_joint(actor, wanted, local_s).to_affine();
        let mut above = usize::from(joints[wanted].parent_index());
        while above < joints.len() {
            model = self.local_joint(actor, above, local_s).to_affine() * model;
            above = usize::from(joints[above].parent_index());
        }
        Ok(model)
    }

    /// A joint's local transform, blended from everything that the actor plays.
    fn local_joint(&self, actor: &ActorState, joint: usize, local_s: f64) -> Transform {
        let rest = &self.library.skeleton.joints()[joint].rest;
        let records = actor.layers.records(&self.pools).iter();
        let parts = records.filter_map(|record| {
            let clip = clip(&self.library, actor, record)?;
            let weight = record.weight_at(local_s);
            if weight <= 0.0 {
                return None;
            }
            let mask = record.mask();
            let mask = mask.and_then(|mask| self.library.set.masks.get(usize::from(mask)));
            let of_joint = mask.map_or(1.0, |mask| mask.weights()[joint]);
            Some(JointPart {
                value: clip.sample_joint(
                    Id::new(joint as u16),
                    record.clip_time_s(local_s, clip.duration_s()),
                ),
                weight: weight * of_joint,
                additive: clip.is_additive(),
                level: record.layer,
            })
        });
        let mut local = blend_joint(rest, THRESHOLD, parts);
        if let Some(carry) = actor.carry_at(local_s) {
            carry.apply_joint(local_s, Id::new(joint as u16), &mut local);
        }
        local
    }

    /// A joint's model matrix after inverse kinematics and spring bones.
    ///
    /// They need the whole pose.
    fn solved_joint(&self, actor: &ActorState, joint: usize, local_s: f64) -> Result<Affine3A> {
        let skeleton = &self.library.skeleton;
        let joints = 0..skeleton.len();
        let mut local: Vec<Transform> = joints
            .map(|joint| self.local_joint(actor, joint, local_s))
            .collect();
        let mut model = vec![Affine3A::IDENTITY; local.len()];
        skeleton.model_pose(&local, &mut model)?;
        let mut goals = actor.goals.clone();
        goals.solve(&self.solvers, local_s, (&mut local, &mut model));
        let (rig, pose) = (&self.library.springs, (&mut *local, &mut *model));
        actor.springs.peek(rig, local_s, pose);
        Ok(model[joint])
    }
}
