//! The controls for root motion: the movement over the ground that comes from clips.

use super::ActorId;
use super::instances::Animator;
use super::root::{Root, RootMotionMode};
use crate::error::{Error, MAX_EXTENT, Result, expect_finite, expect_in};
use crate::motion::RootTransform;

impl Animator {
    /// Sets how the root motion of an actor's clips is used.
    ///
    /// The motion of a clip is the motion that was extracted from it at import. The actor's place
    /// starts at the origin.
    ///
    /// # Errors
    /// [`Error::NotFound`] or [`Error::Stale`] if the actor is not alive.
    pub fn set_root_motion(&mut self, id: ActorId, mode: RootMotionMode) -> Result<()> {
        self.actors.check(id)?;
        self.touch(id.index);
        if let Some(actor) = self.actors.list.get_mut(id.index as usize) {
            match (mode, &mut actor.root) {
                (RootMotionMode::Ignore, root) => *root = None,
                (mode, Some(root)) => root.mode = mode,
                (mode, root) => {
                    *root = Some(Box::new(Root {
                        mode,
                        place: RootTransform::default(),
                        scale: 1.0,
                        delta: RootTransform::IDENTITY,
                    }));
                }
            }
        }
        self.changed(id.index);
        Ok(())
    }

    /// The use of the root motion of an actor's clips.
    ///
    /// # Errors
    /// [`Error::NotFound`] or [`Error::Stale`] if the actor is not alive.
    pub fn root_motion(&self, id: ActorId) -> Result<RootMotionMode> {
        let root = self.actors.get(id)?.root.as_ref();
        Ok(root.map_or(RootMotionMode::Ignore, |root| root.mode))
    }

    /// The movement of the actor in the last update.
    ///
    /// It is relative to the actor's place before that update. It is the identity if root motion is
    /// ignored, or if nothing moved the actor.
    ///
    /// # Errors
    /// [`Error::NotFound`] or [`Error::Stale`] if the actor is not alive.
    pub fn root_delta(&self, id: ActorId) -> Result<RootTransform> {
        let root = self.actors.get(id)?.root.as_ref();
        Ok(root.map_or(RootTransform::IDENTITY, |root| root.delta))
    }

    /// The place that root motion has moved the actor to.
    ///
    /// It is the origin if root motion is ignored.
    ///
    /// # Errors
    /// [`Error::NotFound`] or [`Error::Stale`] if the actor is not alive.
    pub fn place(&self, id: ActorId) -> Result<RootTransform> {
        let root = self.actors.get(id)?.root.as_ref();
        Ok(root.map_or_else(RootTransform::default, |root| root.place))
    }

    /// Sets the place of an actor, from which root motion continues.
    ///
    /// `scale` is the actor's size: metres of the world per metre of the character.
    ///
    /// # Errors
    /// - [`Error::NotFound`] or [`Error::Stale`] if the actor is not alive.
    /// - [`Error::Argument`] for values that are not finite or beyond
    ///   [`Character::MAX_EXTENT`](crate::character::Character::MAX_EXTENT), and if the actor's root
    ///   motion is ignored.
    pub fn set_place(&mut self, id: ActorId, place: RootTransform, scale: f64) -> Result<()> {
        self.actors.check(id)?;
        let most = f64::from(MAX_EXTENT);
        for (what, value) in [
            ("RootTransform::translation", place.translation.x),
            ("RootTransform::translation", place.translation.y),
            ("RootTransform::translation", place.translation.z),
            ("scale", scale),
        ] {
            expect_in(what, value, -most, most)?;
        }
        expect_finite("RootTransform::yaw_rad", place.yaw_rad)?;
        let actor = self.actors.list.get_mut(id.index as usize);
        let root = actor.and_then(|actor| actor.root.as_mut());
        match root {
            Some(root) => {
                (root.place, root.scale) = (place, scale);
                Ok(())
            }
            None => Err(Error::invalid("actor", "ignores root motion")),
        }
    }
}
