//! Positions of joints and sockets of actors at any time.

use super::Animator;
use super::actors::ActorState;
use super::evaluate::alone;
use crate::error::Result;
use crate::id::Id;
use crate::motion::{Share, blend_joint};
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
        let id = Id::new(joint as u16);
        let shares = actor
            .playback(&self.library, &self.pools, local_s)
            .samples();
        let shares = shares.map(|sample| {
            let mask = sample.mask;
            let mask = mask.and_then(|mask| self.library.set.masks.get(usize::from(mask)));
            Share {
                value: sample.clip.sample_joint(id, sample.time_s),
                weight: sample.weight * mask.map_or(1.0, |mask| mask.weights()[joint]),
                additive: sample.clip.is_additive(),
                layer: sample.layer,
            }
        });
        let mut local = blend_joint(rest, shares);
        if let Some(carry) = actor.carry_at(local_s) {
            carry.apply_joint(local_s, id, &mut local);
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
