//! Positions of joints and sockets of actors at any time.

use super::ActorId;
use super::actor::Actor;
use super::blended_weights::THRESHOLD;
use super::evaluate::{clip, is_alone};
use super::instances::Animator;
use super::joint_ref::JointRef;
use crate::error::Result;
use crate::id::Id;
use crate::motion::{JointPart, blend_joint};
use crate::skeleton::Transform;
use glam::Affine3A;

impl Animator {
    /// The transform from a joint's or socket's space to character space.
    ///
    /// The result is that at the animator's `time_s`, which may lie before or after the last
    /// update. It is evaluated from what the actor plays now. The clips of a state machine are
    /// evaluated at that time too, but no transition fires. Only the joint and its ancestors are
    /// evaluated, unless inverse kinematics or spring bones move the joint.
    ///
    /// # Errors
    /// - [`Error::NotFound`](crate::Error::NotFound) or [`Error::Stale`](crate::Error::Stale) if
    ///   the actor is not alive.
    /// - [`Error::NotFound`](crate::Error::NotFound) or
    ///   [`Error::UnknownName`](crate::Error::UnknownName) for a joint or socket that the character
    ///   does not have.
    #[doc(alias = "socket")]
    #[doc(alias = "bone")]
    pub fn joint_model<'a>(
        &self,
        id: ActorId,
        joint: impl Into<JointRef<'a>>,
        time_s: f64,
    ) -> Result<Affine3A> {
        let actor = self.actors.get(id)?;
        let socket = joint
            .into()
            .find(&self.library.skeleton, &self.library.set)?;
        let local_s = actor.clock.local_s(time_s);
        let model = self.model_of(actor, socket.joint.index(), local_s)?;
        Ok(model * socket.offset)
    }

    /// The transform to character space from the space of a joint, which must exist.
    fn model_of(&self, actor: &Actor, wanted: usize, local_s: f64) -> Result<Affine3A> {
        let joints = self.library.skeleton.joints();
        let swings = actor.springs.is_some() && self.library.springs.moves(wanted);
        if swings || !actor.goals.is_empty() {
            return self.solved_joint(actor, wanted, local_s);
        }
        if let Some(own) = &actor.own_pose
            && is_alone(actor, &self.pool, local_s)
        {
            return Ok(own.model[wanted]);
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
    fn local_joint(&self, actor: &Actor, joint: usize, local_s: f64) -> Transform {
        let rest = &self.library.skeleton.joints()[joint].rest;
        let records = self.pool.get(actor.block).iter();
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
    fn solved_joint(&self, actor: &Actor, joint: usize, local_s: f64) -> Result<Affine3A> {
        let skeleton = &self.library.skeleton;
        let joints = 0..skeleton.len();
        let mut local: Vec<Transform> = joints
            .map(|joint| self.local_joint(actor, joint, local_s))
            .collect();
        let mut model = vec![Affine3A::IDENTITY; local.len()];
        skeleton.model_pose(&local, &mut model)?;
        if let Some(rig) = &self.rig {
            for goal in &actor.goals {
                let mut goal = goal.clone();
                goal.solve(&self.solvers, rig, local_s, &mut local, &mut model);
            }
        }
        if let Some(springs) = &actor.springs {
            let pose = (&mut *local, &mut *model);
            let mut springs = springs.clone();
            springs.advance(&self.library.springs, local_s, pose);
        }
        Ok(model[joint])
    }
}
