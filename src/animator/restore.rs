//! Brings actors back to snapshots: all of them, or those that have changed since.

#[cfg(feature = "vulkan")]
use super::ActorId;
use super::Animator;
use super::actors::ActorState;
use super::edits::Eras;
use super::record::PlayRecord;
use super::snapshot::{ActorSnapshot, AnimatorSnapshot, Rows};
use super::state::{BlendPlay, SpringMode};
use super::step::BATCH;
use super::work::Place;
use crate::mesh::Sphere;
use crate::skeleton::Shift;
use crate::state_machine::StateMachine;
use core::hint::black_box;

impl Animator {
    /// Brings all actors back to a snapshot that [`Self::check`] has accepted.
    ///
    /// `shift` takes world space of the snapshot to that of the present, if they differ.
    pub(crate) fn restore_checked(&mut self, from: &AnimatorSnapshot, shift: Option<&Shift>) {
        let rows = &from.rows;
        let since = self.edits.since(rows.saved);
        (self.now_s, self.shown_s) = (rows.now_s, rows.now_s);
        self.queue.restore(&rows.queue);
        let count = rows.list.len();
        for index in count..self.actors.list.len() {
            self.actors[index as u32].layers.release(&mut self.pools);
            self.forget(index as u32);
        }
        self.bounds
            .changed
            .retain(|index| (*index as usize) < count);
        let actors = &mut self.actors;
        actors.list.resize_with(count, ActorState::dead);
        actors.eras.resize(count, Eras::NEW);
        actors.spheres.resize(count, Sphere::EMPTY);
        actors.free.clone_from(&from.free);
        self.bounds.reserve(count);
        self.schedule.wake.rewind(rows.now_s);
        let mut list = core::mem::take(&mut self.work.restored);
        let mut rewound = core::mem::take(&mut self.work.rewound);
        list.clear();
        rewound.clear();
        let has_changed = |eras: &Eras| since.is_none_or(|since| eras.changed > since);
        let eras = &self.actors.eras;
        for (actor, eras) in (0..).zip(eras).filter(|(_, eras)| !has_changed(eras)) {
            if since.is_some_and(|since| eras.moved() > since) {
                rewound.push(actor);
            }
        }
        if eras.iter().any(has_changed) {
            let places = rows.places();
            list.extend(places.filter(|place| has_changed(&eras[place.actor as usize])));
        }
        let few = rewound.len() <= count / 4;
        for batch in rewound.chunks(BATCH) {
            let fetched = batch.iter().filter(|_| few);
            fetched.for_each(|actor| self.fetch_rewound(rows, *actor));
            for actor in batch {
                self.rewind(rows, *actor, shift);
            }
        }
        for batch in list.chunks(BATCH) {
            batch.iter().for_each(|place| self.fetch_row(rows, place));
            for place in batch {
                self.restore_row(rows, place, shift);
            }
        }
        (self.work.restored, self.work.rewound) = (list, rewound);
    }

    /// Reads what [`Self::rewind`] reads: see [`Self::fetch`].
    fn fetch_rewound(&self, rows: &Rows, index: u32) {
        let is_placed = self.actors.eras[index as usize].is_placed();
        for state in [&self.actors[index], &rows.list[index as usize]] {
            state.fetch();
            black_box((state.root.is_some(), is_placed.then_some(state.world)));
        }
        self.schedule.wake.fetch(index);
    }

    /// Brings an actor back to a row since which it has only moved and delivered events.
    fn rewind(&mut self, rows: &Rows, index: u32, shift: Option<&Shift>) {
        let saved = &rows.list[index as usize];
        let is_placed = self.actors.eras[index as usize].is_placed();
        let actor = &mut self.actors[index];
        actor.rewind(saved);
        if is_placed || shift.is_some() {
            actor.rewind_world(saved, &self.library, shift);
        }
        self.moved(index);
        let wakes_s = rows.wakes_s[index as usize];
        let wake = &mut self.schedule.wake;
        // The list of the next update is the same at any time.
        if wakes_s != f64::NEG_INFINITY || wake.time_s(index) != wakes_s {
            wake.set(index, wakes_s);
        }
    }

    /// Reads what the restore of a row reads: see [`Self::fetch`].
    fn fetch_row(&self, rows: &Rows, place: &Place) {
        let (own, saved) = (&self.actors[place.actor], &rows.list[place.actor as usize]);
        own.fetch();
        saved.fetch();
        let records = own.layers.records(&self.pools);
        let saved = rows.records.get(place.records as usize);
        black_box((
            records.first().map(|own| own.clip),
            saved.map(|own| own.clip),
        ));
    }

    /// Brings an actor back to a row.
    fn restore_row(&mut self, rows: &Rows, place: &Place, shift: Option<&Shift>) {
        let (index, state) = (place.actor, &rows.list[place.actor as usize]);
        let (records, blends) = rows.own(place);
        self.forget(index);
        let actor = &self.actors[index];
        let own = actor.layers.records(&self.pools);
        let same_id = actor.id(index) == state.id(index);
        let keeps = same_id && actor.reaches_as(own, (state, records));
        let actor = &mut self.actors[index];
        actor.take_over_all(state);
        actor.shift_saved(&self.library, shift);
        self.take(index, records, (blends, keeps));
    }

    /// Lists a living actor as changed, because another instance of a crowd has it.
    #[cfg(feature = "vulkan")]
    pub(crate) fn list_again(&mut self, id: ActorId) {
        self.list(id.index);
    }

    /// Takes an actor, which may be dead, out of the schedule and of what is counted.
    fn forget(&mut self, index: u32) {
        let actor = &mut self.actors[index];
        let may_be_special = core::mem::take(&mut actor.may_be_special);
        self.work.specials -= usize::from(may_be_special);
        self.rooted -= usize::from(actor.is_rooted());
        self.swinging -= usize::from(actor.springs.mode() == SpringMode::Game);
        self.schedule.wake.set(index, f64::INFINITY);
    }

    /// Completes the restored state of an actor.
    ///
    /// It `keeps` its bounding sphere if that is the same.
    fn take(&mut self, index: u32, records: &[PlayRecord], (blends, keeps): (&[BlendPlay], bool)) {
        self.touched(index);
        let actor = &mut self.actors[index];
        if !actor.is_alive() {
            actor.layers.release(&mut self.pools);
            return;
        }
        actor.layers.set(&mut self.pools, records, blends);
        if let Some(own) = &mut actor.own_pose {
            own.complete(&self.library.skeleton);
        }
        actor.update_own_clip(&self.poser);
        if let Some(driver) = &mut actor.driver {
            driver.trust();
        }
        self.rooted += usize::from(actor.is_rooted());
        self.swinging += usize::from(actor.springs.mode() == SpringMode::Game);
        let world = actor.world.into();
        actor.springs.complete(&self.library.springs, &world);
        let machine = self
            .library
            .state_machine()
            .filter(|_| actor.driver.is_some());
        if actor.needs_more() || machine.is_some_and(StateMachine::has_inertialisation) {
            self.expect_special(index);
        }
        self.resume(index, keeps);
        self.warm();
    }

    /// Brings an actor back to a snapshot that [`Self::check_one`] has accepted.
    ///
    /// `shift` is as in [`Self::restore_checked`].
    pub(crate) fn restore_one(&mut self, index: u32, from: &ActorSnapshot, shift: Option<&Shift>) {
        let times_s = [from.rows.now_s, self.now_s];
        if let Some(id) = self.actors.id(index) {
            self.queue.replace_early(id, &from.rows.queue, times_s);
        }
        let _ = from.rows.for_each(|_, state, records, blends| {
            let actor = &mut self.actors[index];
            self.rooted -= usize::from(actor.is_rooted());
            self.swinging -= usize::from(actor.springs.mode() == SpringMode::Game);
            actor.take_over(state);
            actor.shift_saved(&self.library, shift);
            actor.clock.go_on(times_s[0], times_s[1]);
            self.take(index, records, (blends, false));
            Ok(())
        });
    }
}
