//! The caller's controls for an actor's time: pause, resume, time scale.

use super::ActorId;
use super::clock::Clock;
use super::instances::Animator;
use crate::error::{Result, expect_in};

impl Animator {
    /// Stops an actor's time.
    ///
    /// Its clips, fades and state machine stop with it. A paused actor costs nothing until
    /// [`Self::resume`].
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) or [`Error::Stale`](crate::Error::Stale) if it
    /// is not alive.
    pub fn pause(&mut self, id: ActorId) -> Result<()> {
        self.change_clock(id, |clock, now_s| clock.pause(now_s, true))
    }

    /// Resumes a paused actor's time from where it stopped.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) or [`Error::Stale`](crate::Error::Stale) if it
    /// is not alive.
    pub fn resume(&mut self, id: ActorId) -> Result<()> {
        self.change_clock(id, |clock, now_s| clock.pause(now_s, false))
    }

    /// Returns true if the actor is paused.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) or [`Error::Stale`](crate::Error::Stale) if it
    /// is not alive.
    pub fn is_paused(&self, id: ActorId) -> Result<bool> {
        self.actors.get(id).map(|actor| actor.clock.is_paused())
    }

    /// Sets the speed of an actor's time. 1 is normal.
    ///
    /// It applies to clips, fades and state machines alike.
    ///
    /// # Errors
    /// - [`Error::NotFound`](crate::Error::NotFound) or [`Error::Stale`](crate::Error::Stale) if it
    ///   is not alive.
    /// - [`Error::Argument`](crate::Error::Argument) for a scale that is negative or not finite.
    pub fn set_time_scale(&mut self, id: ActorId, scale: f32) -> Result<()> {
        expect_in("time scale", scale, 0.0, f32::MAX)?;
        self.change_clock(id, |clock, now_s| clock.set_scale(now_s, scale.into()))
    }

    /// The speed of the actor's time while it is not paused.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) or [`Error::Stale`](crate::Error::Stale) if it
    /// is not alive.
    pub fn time_scale(&self, id: ActorId) -> Result<f32> {
        let actor = self.actors.get(id)?;
        Ok(actor.clock.scale() as f32)
    }

    /// The actor's own time, in seconds.
    ///
    /// It is the animator's time, unless the actor was paused or has a time scale.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) or [`Error::Stale`](crate::Error::Stale) if it
    /// is not alive.
    pub fn time_s(&self, id: ActorId) -> Result<f64> {
        let actor = self.actors.get(id)?;
        Ok(actor.clock.local_s(self.now_s))
    }

    fn change_clock(&mut self, id: ActorId, change: impl FnOnce(&mut Clock, f64)) -> Result<()> {
        self.actors.check(id)?;
        self.touch(id.index);
        if let Some(actor) = self.actors.list.get_mut(id.index as usize) {
            change(&mut actor.clock, self.now_s);
        }
        self.changed(id.index);
        Ok(())
    }
}
