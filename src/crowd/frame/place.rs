//! Transforms of instances for one picture, which the game does not have.

use crate::crowd::frame::Frame;
use crate::crowd::instances::picture::Picture;
use crate::crowd::instances::world::Moment;
use crate::crowd::scene::Scene;
use crate::crowd::{Crowd, InstanceId};
#[cfg(doc)]
use crate::error::Error;
use crate::error::{Result, expect};
use crate::palette::Mat3x4;
use glam::Affine3A;

impl Scene {
    /// Ends a picture, whose transforms hold no longer. [`Crowd::settle_picture`] puts instances
    /// back that the next picture does not move.
    pub(crate) fn end_picture(&mut self) {
        let Picture { now, before } = &mut self.picture;
        for id in now.drain(..) {
            if let Ok(state) = self.instances.get_mut(id) {
                state.pictured = false;
                before.push(id);
            }
        }
    }
}

impl Crowd {
    /// Moves an instance, which is not attached, for this picture alone.
    pub(crate) fn show_where(&mut self, id: InstanceId, world_from_model: &Affine3A) {
        let state = &mut self.scene.instances[id.index];
        if !core::mem::replace(&mut state.pictured, true) {
            self.scene.picture.now.push(id);
        }
        self.put_shown(id, world_from_model);
    }

    /// Moves an instance, but not in the game.
    fn put_shown(&mut self, id: InstanceId, world_from_model: &Affine3A) {
        let state = &self.scene.instances[id.index];
        if state.record.world_from_model == Mat3x4::from_affine(world_from_model) {
            return;
        }
        let (character, actor) = (state.character, state.actor);
        self.animators.untracked_mut()[character].put_shown(actor, world_from_model, false);
        self.scene.put_record(id, world_from_model, false);
    }

    /// Lets instances go on with their root motion until the time of the picture.
    pub(crate) fn show_roots_ahead(&mut self) {
        let mut moved = core::mem::take(&mut self.frame.moved);
        for (character, animator) in self.animators.iter() {
            animator.roots_ahead(|actor, world| {
                let id = self.scene.instance_of(character, actor.index);
                let free = |id: &InstanceId| self.scene.attachments.of(id.index).is_none();
                moved.extend(id.filter(free).map(|id| (id, world)));
            });
        }
        for (id, world) in moved.drain(..) {
            self.show_where(id, &world);
        }
        self.frame.moved = moved;
    }

    /// Puts instances back where the game has them, if this picture does not move them.
    pub(crate) fn settle_picture(&mut self) {
        let mut before = core::mem::take(&mut self.scene.picture.before);
        for id in before.drain(..) {
            let instances = &self.scene.instances;
            let Ok(state) = instances.get(id) else {
                continue;
            };
            if !state.pictured && self.scene.attachments.of(id.index).is_none() {
                let (character, actor) = (state.character, state.actor);
                if let Ok(actor) = self.animators[character].actor(actor) {
                    self.put_shown(id, &actor.transform());
                }
            }
        }
        self.scene.picture.before = before;
    }
}

/// The places of instances in the picture.
impl Frame<'_> {
    /// Moves an instance in this picture alone.
    ///
    /// Use it for transforms that the engine interpolates between two steps of its game. The game
    /// keeps the transform that it has: [`Instance::transform`](crate::Instance::transform) and
    /// snapshots do not know of this one. The next picture has it again where the game has it.
    ///
    /// Motion vectors are those from the last picture. What is attached to the instance follows it,
    /// and its spring bones swing, unless they are the game's
    /// ([`SpringMode::Game`](crate::animator::SpringMode::Game)).
    ///
    /// # Errors
    /// - [`Error::Stale`] or [`Error::NotFound`] if the instance is not alive.
    /// - [`Error::At`] with the instance's [index](crate::Instance::table_index) and
    ///   [`Error::Argument`], if the transform is not finite or flat, or if the instance is
    ///   [attached](crate::Instance::attach_to).
    /// - [`Error::Argument`] if the frame is prepared already.
    #[doc(alias("interpolate", "render transform"))]
    pub fn set_transform(&mut self, id: InstanceId, world_from_model: &Affine3A) -> Result<()> {
        expect("frame", !self.prepared, "was already prepared")?;
        self.crowd.scene.instances.get(id)?;
        self.crowd.scene.check_move(id, world_from_model)?;
        self.crowd.show_where(id, world_from_model);
        Ok(())
    }

    /// World space from the character space of an instance in this picture.
    ///
    /// It is that of [`Self::set_transform`], where its root motion has it at the time of the
    /// picture, or where what it is attached to has it, which evaluates joints. Spring bones swing
    /// when the frame is prepared, so before that, what they carry is elsewhere.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if the instance is not alive.
    pub fn transform(&self, id: InstanceId) -> Result<Affine3A> {
        Ok(self.crowd.instance(id)?.world(Moment::Picture))
    }
}
