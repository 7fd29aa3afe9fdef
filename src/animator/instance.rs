//! Actors that are the instances of a crowd.

use super::actors::{ActorState, Actors};
use super::record::RecordSpan;
use super::state::{Step, Swinging};
use super::{ActorId, Animator};
use crate::character::Character;
use crate::error::Result;
use crate::grow::grown;
use crate::id::Id;
use crate::palette::PaletteFormat;
use crate::skeleton::{Joint, Shift};
use glam::Affine3A;
use std::sync::Arc;

/// The way in which an actor's pose changes with time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PoseChange {
    /// It is the rest pose.
    Rests,
    /// It stays the same while this version does.
    Still(u32),
    /// It may be different at any later time.
    Moves,
}

/// For a crowd, whose instances are actors of its animators.
impl Animator {
    /// Makes room for an actor. At most `more` will be added.
    pub(crate) fn expect_actor(&mut self, more: usize) {
        let Actors { list, free, .. } = &self.actors;
        if free.is_empty() && list.len() == list.capacity() {
            self.reserve_lists(grown(list.len(), more));
        }
    }

    /// Rejects poses set by the caller that a palette format cannot represent.
    pub(crate) fn expect_fit(&mut self, character: Arc<Character>, format: PaletteFormat) {
        self.set_skinning_method(format.method());
        self.fits = Some((character, format));
    }

    /// Returns how the pose of a living actor changes.
    ///
    /// Only the index of the id counts: an instance of the crowd keeps its actor alive.
    pub(crate) fn pose_change(&self, id: ActorId) -> PoseChange {
        let state = self.actors.list.get(id.index as usize);
        match state.filter(|state| !state.is_resting(self.shown_s)) {
            None => PoseChange::Rests,
            Some(state) => match state.still_version(self.shown_s) {
                Some(version) => PoseChange::Still(version),
                None => PoseChange::Moves,
            },
        }
    }

    /// Sets the time that poses are evaluated for, which has been checked.
    pub(crate) fn show_at_checked(&mut self, time_s: f64) {
        self.shown_s = time_s;
    }

    /// Returns true if a transform follows root motion.
    pub(crate) fn has_rooted(&self) -> bool {
        self.rooted > 0
    }

    /// The actors that the last update visited: among them are all that root motion moved.
    pub(crate) fn visited(&self) -> &[u32] {
        &self.schedule.due
    }

    /// The transform that root motion moved a living actor to in the last update.
    pub(crate) fn root_moved_to(&self, id: ActorId) -> Option<Affine3A> {
        self.actors[id.index].root.as_ref()?.moved_to()
    }

    /// Calls `each` with every actor that root motion moves on its own, until the time that is
    /// shown, and where it is then. The game stays where it is.
    pub(crate) fn roots_ahead(&self, mut each: impl FnMut(ActorId, Affine3A)) {
        if self.rooted == 0 || self.shown_s == self.now_s {
            return;
        }
        for id in self.actors.ids() {
            if let Some(world) = self.root_ahead(&self.actors[id.index], self.shown_s) {
                each(id, world);
            }
        }
    }

    /// The transform of a living actor at a time, which its root motion reaches after the last
    /// update.
    pub(crate) fn transform_at(&self, id: ActorId, time_s: f64) -> Result<Affine3A> {
        let actor = self.actor(id)?;
        let is_ahead = self.rooted > 0 && time_s > self.now_s;
        let ahead = is_ahead.then(|| self.root_ahead(&self.actors[id.index], time_s));
        Ok(ahead.flatten().unwrap_or_else(|| actor.transform()))
    }

    fn root_ahead(&self, actor: &ActorState, time_s: f64) -> Option<Affine3A> {
        let mut root = actor.root.as_deref().filter(|_| actor.is_rooted())?.clone();
        let time_s = actor.clock.local_s(time_s);
        let span_s = [actor.passed_s.min(time_s), time_s];
        let mut step = Step::new(span_s[1] - span_s[0]);
        for record in actor.layers.records(&self.pools) {
            step.pass(&self.library, &RecordSpan::new(*record, span_s));
        }
        root.moved(step.delta());
        root.moved_to()
    }

    /// The transform to character space from the space of a joint of a living actor, as pictures
    /// show it. The joint must exist.
    pub(crate) fn shown_joint(&self, id: ActorId, joint: Id<Joint>) -> Result<Affine3A> {
        let actor = &self.actors[id.index];
        let at = (actor.clock.local_s(self.shown_s), Swinging::Picture);
        self.model_of(actor, joint.index(), at)
    }

    /// Returns true if the spring bones of some actors swing with updates.
    pub(crate) fn has_swinging(&self) -> bool {
        self.swinging > 0
    }

    /// Moves the spring bones of a living actor through the world, for pictures alone.
    pub(crate) fn put_shown(&mut self, id: ActorId, world: &Affine3A, jump: bool) {
        let springs = &mut self.actors[id.index].springs;
        springs.set_shown_world(&self.library.springs, world, jump);
    }

    /// Moves a living actor through the world. A `jump` moves its spring bones along.
    #[inline]
    pub(crate) fn put(&mut self, id: ActorId, world: &Affine3A, jump: bool) {
        let era = self.edits.era();
        let eras = &mut self.actors.eras[id.index as usize];
        eras.set_moved(era);
        eras.set_placed();
        self.actors[id.index].put(&self.library, world, jump);
    }

    /// Takes all actors to another origin of world space.
    pub(crate) fn shift_origin(&mut self, shift: &Shift) {
        let all = self.actors.list.iter_mut().zip(&mut self.actors.eras);
        for (actor, eras) in all.filter(|(actor, _)| actor.is_alive()) {
            // Two opposite shifts may round.
            eras.set_placed();
            actor.shift_world(shift);
            actor.springs.shift(&self.library.springs, shift);
        }
    }

    /// Lets the root motion of a living actor continue from its world transform.
    #[inline]
    pub(crate) fn continue_root(&mut self, id: ActorId) {
        if self.actors[id.index].root.is_some() {
            self.touched(id.index);
            self.actors[id.index].continue_root();
        }
    }
}
