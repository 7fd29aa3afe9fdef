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

    /// True if a clip that a living actor plays drives morph weights.
    pub(crate) fn drives_weights(&self, id: ActorId) -> bool {
        let records = self.actors[id.index].layers.records(&self.pools);
        let mut clips = records
            .iter()
            .filter_map(|record| self.library.clips.get(usize::from(record.clip)));
        clips.any(Clip::drives_weights)
    }

    /// The morph weights and expressions that the caller set for a living actor, as
    /// [`Weights::iter`](super::state::Weights::iter) gives them.
    pub(crate) fn own_weights<'a>(
        &'a self,
        id: ActorId,
        added: &'a mut [f32],
    ) -> impl Iterator<Item = (u32, f32, bool)> + 'a {
        let weights = self.actors[id.index].weights.as_ref();
        let set = weights.map(|it| it.iter(&self.library, added));
        set.into_iter().flatten()
    }

    /// Number of morph weights of the character.
    pub(crate) fn weight_count(&self) -> usize {
        self.library.morph_weights.len()
    }
}
