//! The input of code that poses actors elsewhere, such as in shaders.

use super::record::PlayRecord;
use super::state::Clock;
use super::{ActorId, Animator};
use crate::clip::Clip;
use crate::error::Result;

/// The state of an actor that decides its pose.
#[derive(Debug)]
pub(crate) struct Played<'a> {
    pub(crate) clock: &'a Clock,
    pub(crate) records: &'a [PlayRecord],
    clips: &'a [Clip],
    /// True if it has targets of inverse kinematics.
    pub(crate) has_targets: bool,
    pub(crate) has_springs: bool,
    /// True while offsets decay after an inertialised transition.
    pub(crate) is_inertialised: bool,
}

impl<'a> Played<'a> {
    pub(crate) fn clip(&self, record: &PlayRecord) -> Option<&'a Clip> {
        self.clips.get(usize::from(record.clip))
    }
}

impl Animator {
    /// The state of an actor that decides its pose at the time that is shown.
    pub(crate) fn played(&self, id: ActorId) -> Result<Played<'_>> {
        self.actors.check(id)?;
        let actor = &self.actors[id.index];
        let local_s = actor.clock.local_s(self.shown_s);
        Ok(Played {
            clock: &actor.clock,
            records: actor.layers.records(&self.pools),
            clips: &self.library.clips,
            has_targets: !actor.goals.is_empty(),
            has_springs: actor.springs.is_on(),
            is_inertialised: actor.inertialised_at(local_s).is_some(),
        })
    }

    /// True if a clip that a living actor plays drives morph weights, and the caller others.
    pub(crate) fn shares_weights(&self, id: ActorId) -> bool {
        let actor = &self.actors[id.index];
        if actor
            .weights
            .as_ref()
            .is_none_or(|weights| weights.is_empty())
        {
            return false;
        }
        let records = actor.layers.records(&self.pools);
        let mut clips = records
            .iter()
            .filter_map(|record| self.library.clips.get(usize::from(record.clip)));
        clips.any(Clip::drives_weights)
    }
}
