//! Morph weights of actors.

use super::ActorId;
use super::blended_weights::blend_records;
use super::instances::Animator;
use crate::error::{Error, Result, expect_extent, expect_len};
use crate::mesh::add_expressions;

impl Animator {
    /// Writes the morph weights of an actor at the present time.
    ///
    /// There is one for each of its character's
    /// [`morph_weights`](crate::character::Character::morph_weights). Weights from clips are
    /// blended as joints are. [Expressions](Self::set_expression) are added. Weights that the
    /// caller set override all of this.
    ///
    /// # Errors
    /// - [`Error::NotFound`] or [`Error::Stale`] if the actor is not alive.
    /// - [`Error::Argument`] if the length of `out` is not the number of weights.
    pub fn morph_weights(&self, id: ActorId, out: &mut [f32]) -> Result<()> {
        self.actors.check(id)?;
        expect_len("morph weights", out.len(), self.library.morph_weights.len())?;
        self.write_weights(id.index, out);
        Ok(())
    }

    /// Writes the morph weights of a living actor. The length of `out` must be correct.
    pub(crate) fn write_weights(&self, index: u32, out: &mut [f32]) {
        let rest = &self.library.morph_weights;
        out.copy_from_slice(rest);
        let Some(actor) = self.actors.list.get(index as usize) else {
            return;
        };
        let local_s = actor.clock.local_s(self.now_s);
        let (own, records) = (actor.own_pose.as_deref(), self.pool.get(actor.block));
        blend_records(&self.library, own, records, local_s, out);
        if let Some(carry) = actor.carry_at(local_s) {
            carry.apply_weights(local_s, out);
        }
        if !actor.expressions.is_empty() {
            add_expressions(&self.library.expressions, &actor.expressions, out);
        }
        for (out, set) in out.iter_mut().zip(&actor.weights) {
            if !set.is_nan() {
                *out = *set;
            }
        }
    }

    /// Overrides an actor's morph weights.
    ///
    /// There is one entry for each weight of its character.
    ///
    /// `None` leaves a weight to the clips and the rest pose.
    ///
    /// # Errors
    /// - [`Error::NotFound`] or [`Error::Stale`] if the actor is not alive.
    /// - [`Error::Argument`] for the wrong number of weights, or a weight that is not finite or
    ///   beyond [`Character::MAX_EXTENT`](crate::character::Character::MAX_EXTENT).
    pub fn set_morph_weights(&mut self, id: ActorId, weights: &[Option<f32>]) -> Result<()> {
        self.actors.check(id)?;
        let need = self.library.morph_weights.len();
        expect_len("morph weights", weights.len(), need)?;
        weights
            .iter()
            .flatten()
            .try_for_each(|w| expect_extent("morph weight", [*w]))?;
        if let Some(actor) = self.actors.list.get_mut(id.index as usize) {
            actor.weights.clear();
            if weights.iter().any(Option::is_some) {
                let values = weights.iter().map(|weight| weight.unwrap_or(f32::NAN));
                actor.weights.extend(values);
            }
        }
        Ok(())
    }

    /// Overrides one morph weight of an actor.
    ///
    /// `None` removes the override, so that the clips and the rest pose decide again.
    ///
    /// # Errors
    /// - [`Error::NotFound`] or [`Error::Stale`] if the actor is not alive.
    /// - [`Error::NotFound`] for a weight that the character does not have.
    /// - [`Error::Argument`] for a weight that is not finite or beyond
    ///   [`Character::MAX_EXTENT`](crate::character::Character::MAX_EXTENT).
    pub fn set_morph_weight(
        &mut self,
        id: ActorId,
        index: usize,
        weight: Option<f32>,
    ) -> Result<()> {
        self.actors.check(id)?;
        let count = self.library.morph_weights.len();
        if index >= count {
            return Err(Error::NotFound {
                what: "morph weight",
                index: index as u64,
                count: count as u64,
            });
        }
        weight.map_or(Ok(()), |weight| expect_extent("morph weight", [weight]))?;
        if let Some(actor) = self.actors.list.get_mut(id.index as usize) {
            actor.weights.resize(count, f32::NAN);
            actor.weights[index] = weight.unwrap_or(f32::NAN);
        }
        Ok(())
    }

    /// The overrides of an actor's morph weights.
    ///
    /// There is one entry for each weight of its character.
    ///
    /// `None` stands for a weight that the clips and the rest pose decide.
    ///
    /// # Errors
    /// [`Error::NotFound`] or [`Error::Stale`] if it is not alive.
    pub fn morph_overrides(&self, id: ActorId) -> Result<impl Iterator<Item = Option<f32>> + '_> {
        let weights = &self.actors.get(id)?.weights;
        let set = |index: usize| weights.get(index).copied().filter(|set| !set.is_nan());
        Ok((0..self.library.morph_weights.len()).map(set))
    }
}
