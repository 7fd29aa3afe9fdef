//! Spring bones of actors.

use super::ActorId;
use super::instances::Animator;
use crate::error::{Result, expect_transform};
use crate::spring::SpringState;
use glam::Affine3A;

impl Animator {
    /// Moves an actor through the world, for its spring bones.
    ///
    /// `world_from_model` is the transform from character space to world space, from the next
    /// evaluation on. At first it is the identity. While spring bones are off, it is kept for when
    /// they are on again. Actors of a character without spring bones ignore it.
    ///
    /// # Errors
    /// - [`Error::NotFound`](crate::Error::NotFound) or [`Error::Stale`](crate::Error::Stale) if
    ///   the actor is not alive.
    /// - [`Error::Argument`](crate::Error::Argument) if the transform is not finite or beyond
    ///   [`Character::MAX_EXTENT`](crate::character::Character::MAX_EXTENT).
    pub fn set_world(&mut self, id: ActorId, world_from_model: &Affine3A) -> Result<()> {
        if let Some(state) = self.spring_state(id, world_from_model)? {
            state.set_world(world_from_model);
        }
        Ok(())
    }

    /// Moves an actor to another place in the world. Its spring bones move along without a swing.
    ///
    /// # Errors
    /// As [`Self::set_world`].
    pub fn teleport(&mut self, id: ActorId, world_from_model: &Affine3A) -> Result<()> {
        let springs = std::sync::Arc::clone(&self.library.springs);
        if let Some(state) = self.spring_state(id, world_from_model)? {
            state.teleport(&springs, world_from_model);
        }
        Ok(())
    }

    /// Switches the spring bones of an actor on or off.
    ///
    /// They are on at first, if the character has any. Switched on again, they start in the
    /// animated pose. Actors far away cost less without them.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) or [`Error::Stale`](crate::Error::Stale) if the
    /// actor is not alive.
    pub fn set_springs(&mut self, id: ActorId, on: bool) -> Result<()> {
        let has = self.actors.get(id)?.springs.is_some();
        if on && !has {
            self.start_springs(id.index);
            let actor = self.actors.list.get_mut(id.index as usize);
            if let Some(actor) = actor
                && let (Some(state), Some(world)) = (&mut actor.springs, actor.world.take())
            {
                state.set_world(&world);
            }
        } else if !on && let Some(actor) = self.actors.list.get_mut(id.index as usize) {
            let state = actor.springs.take();
            if let Some(state) = state {
                actor.world = Some(Box::new(*state.world()));
            }
        }
        self.changed(id.index);
        Ok(())
    }

    /// Lets an actor's spring bones start anew, in its animated pose.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) or [`Error::Stale`](crate::Error::Stale) if the
    /// actor is not alive.
    pub fn reset_springs(&mut self, id: ActorId) -> Result<()> {
        self.actors.check(id)?;
        let actor = self.actors.list.get_mut(id.index as usize);
        if let Some(state) = actor.and_then(|actor| actor.springs.as_mut()) {
            state.reset();
        }
        Ok(())
    }

    /// True if the character has spring bones.
    #[cfg(feature = "vulkan")]
    pub(crate) fn has_springs(&self) -> bool {
        !self.library.springs.is_empty()
    }

    /// Gives an actor the state of its spring bones, if the character has any.
    pub(super) fn start_springs(&mut self, index: u32) {
        if self.library.springs.is_empty() {
            return;
        }
        if let Some(actor) = self.actors.list.get_mut(index as usize) {
            actor.springs = Some(Box::new(SpringState::new(&self.library.springs)));
            self.expect_special(index);
            let more = self.actors.len().saturating_sub(self.swings.len());
            self.swings.reserve(more);
        }
    }

    /// The state of an actor's spring bones. If they are off, their world is kept.
    fn spring_state(&mut self, id: ActorId, world: &Affine3A) -> Result<Option<&mut SpringState>> {
        self.actors.check(id)?;
        expect_transform("world_from_model", world)?;
        let actor = self.actors.list.get_mut(id.index as usize);
        Ok(actor.and_then(|actor| {
            if let Some(kept) = &mut actor.world {
                **kept = *world;
            }
            actor.springs.as_deref_mut()
        }))
    }
}
