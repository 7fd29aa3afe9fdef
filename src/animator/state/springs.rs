//! The spring bones of an actor.

use crate::clone::clone_fields;
use crate::error::{Error, Result};
use crate::skeleton::Transform;
use crate::spring::{SpringRig, SpringState};
use glam::Affine3A;

/// The spring bones of an actor: on, or off and without state.
#[derive(Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Springs(Option<Box<SpringState>>);

clone_fields! {
    Springs { 0 }
}

impl Springs {
    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Starts in the pose of the next evaluation, if the character has spring bones.
    pub(crate) fn start(&mut self, rig: &SpringRig, world: &Affine3A) {
        if !rig.is_empty() && self.0.is_none() {
            let mut state = SpringState::new(rig);
            state.set_world(world);
            self.0 = Some(Box::new(state));
        }
    }

    pub(crate) fn stop(&mut self) {
        self.0 = None;
    }

    /// Starts anew in the pose of the next evaluation.
    pub(crate) fn reset(&mut self) {
        if let Some(state) = &mut self.0 {
            state.reset();
        }
    }

    /// Moves through the world. A `jump` moves the bones along, without a swing.
    pub(crate) fn set_world(&mut self, rig: &SpringRig, world: &Affine3A, jump: bool) {
        match &mut self.0 {
            Some(state) if jump => state.teleport(rig, world),
            Some(state) => state.set_world(world),
            None => {}
        }
    }

    /// Checks data that was saved.
    pub(crate) fn check(&self, rig: &SpringRig) -> Result<()> {
        match &self.0 {
            Some(_) if rig.is_empty() => {
                Err(Error::invalid("spring bones", "the character has none"))
            }
            Some(state) => state.check(rig),
            None => Ok(()),
        }
    }

    /// Swings a pose as a copy would, and leaves the state alone.
    pub(crate) fn peek(
        &self,
        rig: &SpringRig,
        local_s: f64,
        pose: (&mut [Transform], &mut [Affine3A]),
    ) {
        if let Some(state) = &self.0 {
            state.clone().advance(rig, local_s, pose);
        }
    }

    pub(crate) fn advance(
        &mut self,
        rig: &SpringRig,
        local_s: f64,
        pose: (&mut [Transform], &mut [Affine3A]),
    ) {
        if let Some(state) = &mut self.0 {
            state.advance(rig, local_s, pose);
        }
    }

    /// Takes the state out, so that a thread can advance it. [`Self::put_back`] ends this.
    pub(crate) fn take(&mut self) -> Option<Box<SpringState>> {
        self.0.take()
    }

    pub(crate) fn put_back(&mut self, state: Box<SpringState>) {
        self.0 = Some(state);
    }
}
