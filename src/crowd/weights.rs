//! Morph weights of instances.

use super::InstanceId;
use super::state::Crowd;
use crate::animator::NameOrId;
use crate::error::Result;
use crate::id::Id;
use crate::mesh::Expression;

impl Crowd {
    /// Overrides an instance's morph weights.
    ///
    /// There is one for each of its character's
    /// [`morph_weights`](crate::character::Character::morph_weights). With `None`, the clips and
    /// the rest pose decide.
    ///
    /// # Errors
    /// As [`Animator::set_morph_weights`](crate::animator::Animator::set_morph_weights).
    pub fn set_morph_weights(&mut self, id: InstanceId, weights: &[Option<f32>]) -> Result<()> {
        self.with_actor(id, |animator, actor| {
            animator.set_morph_weights(actor, weights)
        })
    }

    /// Overrides one morph weight of an instance.
    ///
    /// With `None`, the clips and the rest pose decide again.
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

    /// The present morph weights of an instance.
    ///
    /// They are those at the time of the frame begun last.
    ///
    /// # Errors
    /// As [`Animator::morph_weights`](crate::animator::Animator::morph_weights).
    pub fn morph_weights(&self, id: InstanceId, out: &mut [f32]) -> Result<()> {
        let (animator, actor) = self.actor(id)?;
        animator.morph_weights(actor, out)
    }

    /// Sets the weight at which an instance shows an expression, such as a smile.
    ///
    /// # Errors
    /// As [`Animator::set_expression`](crate::animator::Animator::set_expression).
    pub fn set_expression<'a>(
        &mut self,
        id: InstanceId,
        expression: impl Into<NameOrId<'a, Id<Expression>>>,
        weight: f32,
    ) -> Result<()> {
        let expression = expression.into();
        self.with_actor(id, |animator, actor| {
            animator.set_expression(actor, expression, weight)
        })
    }
}
