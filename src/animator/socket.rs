//! Positions of joints and sockets of actors at any time.

use super::Animator;
use super::actors::ActorState;
use super::evaluate::alone;
use super::state::{SpringMode, Swinging};
use crate::error::Result;
use crate::id::Id;
use crate::motion::{Share, blend_joint};
use crate::skeleton::Transform;
use glam::Affine3A;

impl Swinging {
    /// Returns true if the spring bones of an actor swing with these evaluations.
    fn moves(self, actor: &ActorState) -> bool {
        match self {
            Self::Game => actor.springs.mode() == SpringMode::Game,
            Self::Picture => actor.springs.is_on(),
        }
    }
}

impl Animator {
    /// The transform to character space from the space of a joint, which must exist.
    pub(super) fn model_of(
        &self,
        actor: &ActorState,
        wanted: usize,
        (local_s, swinging): (f64, Swinging),
    ) -> Result<Affine3A> {
        let joints = self.library.skeleton.joints();
        let swings = swinging.moves(actor) && self.library.springs.moves(wanted);
        if swings || !actor.goals.is_empty() {
            let mut model = vec![Affine3A::IDENTITY; joints.len()];
            self.model_pose_of(actor, (local_s, swinging), &mut model)?;
            return Ok(model[wanted]);
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
                value: self.poser.sample_joint(sample.clip, id, sample.time_s),
                weight: sample.weight * mask.map_or(1.0, |mask| mask.weights[joint]),
                additive: sample.clip.is_additive(),
                layer: sample.layer,
            }
        });
        let mut local = blend_joint(rest, shares);
        if let Some(transition) = actor.inertialised_at(local_s) {
            transition.apply_joint(local_s, id.index(), &mut local);
        }
        local
    }

    /// Writes the model pose of an actor: one matrix for each joint.
    ///
    /// It allocates only for inverse kinematics and spring bones.
    pub(super) fn model_pose_of(
        &self,
        actor: &ActorState,
        (local_s, swinging): (f64, Swinging),
        out: &mut [Affine3A],
    ) -> Result<()> {
        let skeleton = &self.library.skeleton;
        let own = alone(actor, &self.pools, local_s);
        if actor.goals.is_empty() && !swinging.moves(actor) {
            if let Some(own) = own {
                out.copy_from_slice(own);
                return Ok(());
            }
            for (joint, bone) in skeleton.joints().iter().enumerate() {
                let local = self.local_joint(actor, joint, local_s).to_affine();
                let above = out.get(usize::from(bone.parent_index()));
                out[joint] = above.map_or(local, |above| *above * local);
            }
            return Ok(());
        }
        let joints = 0..skeleton.len();
        let local = joints.map(|joint| self.local_joint(actor, joint, local_s));
        let mut local: Vec<Transform> = local.collect();
        skeleton.model_pose(&local, out)?;
        if let Some(own) = own.filter(|_| actor.goals.is_empty()) {
            out.copy_from_slice(own);
        }
        let mut goals = actor.goals.clone();
        goals.solve((&self.solvers, skeleton), local_s, (&mut local, out));
        let rig = &self.library.springs;
        actor
            .springs
            .peek(swinging, rig, local_s, (&mut local, out));
        Ok(())
    }
}
