//! Cuts of actors: the change of motion from which an inertialised transition starts.

use super::carry::{Cut, Moment};
use super::instances::Animator;
use super::record::PlayRecord;

impl Animator {
    /// Everything that is needed to cut an actor, with its records and its time.
    fn cut(&mut self, index: u32) -> Option<(Cut<'_>, &[PlayRecord], f64)> {
        let actor = self.actors.list.get_mut(index as usize)?;
        let cut = Cut {
            library: &self.library,
            poser: &self.poser,
            threads: &self.threads,
            own: actor.own_pose.as_deref(),
            carry: &mut actor.carry,
            work: &mut self.cut_work,
        };
        Some((
            cut,
            self.pool.get(actor.block),
            actor.clock.local_s(self.now_s),
        ))
    }

    /// Samples an actor's motion at a cut.
    pub(super) fn note_cut(&mut self, index: u32, moment: Moment) {
        if let Some((mut cut, records, local_s)) = self.cut(index) {
            cut.note(moment, records, local_s);
        }
    }

    /// Starts the decay of the offsets between the sampled motions of an actor.
    pub(super) fn begin_cut(&mut self, index: u32, inertial_s: f32) {
        if let Some((mut cut, _, local_s)) = self.cut(index) {
            cut.begin(local_s, inertial_s.into());
        }
    }
}
