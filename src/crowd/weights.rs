//! Morph weights of instances.

use super::InstanceId;
use super::state::Crowd;
use crate::error::Result;

impl Crowd {
    /// Sets an instance's morph weights over what its clips and the rest pose say: one for each of
    /// its character's [`morph_weights`](crate::character::Character::morph_weights). `None` for a
    /// weight leaves it to them.
    ///
    /// # Errors
    /// As [`Animator::set_morph_weights`](crate::animator::Animator::set_morph_weights).
    pub fn set_morph_weights(&mut self, id: InstanceId, weights: &[Option<f32>]) -> Result<()> {
        self.with_actor(id, |animator, actor| {
            animator.set_morph_weights(actor, weights)
        })
    }

    /// Sets one morph weight of an instance over what its clips and the rest pose say; `None`
    /// leaves it to them again.
    ///
    /// # Errors
    /// As [`Animator::set_morph_weight`](crate::animator::Animator::set_morph_weight).
    pub fn set_morph_weight(
        &mut self,
        id: InstanceId,
        index: usize,
        weight: Option<f32>,
    ) -> Result<()> {
        self.with_actor(id, |animator, actor| {
            animator.set_morph_weight(actor, index, weight)
        })
    }

    /// The morph weights of an instance at the time of the frame begun last.
    ///
    /// # Errors
    /// As [`Animator::morph_weights`](crate::animator::Animator::morph_weights).
    pub fn morph_weights(&self, id: InstanceId, out: &mut [f32]) -> Result<()> {
        let (animator, actor) = self.actor(id)?;
        animator.morph_weights(actor, out)
    }
}
