//! One update: takes actors to the present time, and finds what happens to them.

use super::Animator;
use super::actors::ActorState;
use super::deliver::{Sink, finish_s, next_s};
use super::library::Library;
use super::record::{PlayRecord, RecordSpan};
use super::state::{Inertialiser, Mix, Pools, Step};
use super::times::check_time;
use crate::error::Result;
use crate::motion::LoopMode;
#[cfg(doc)]
use crate::state_machine::StateMachine;
use core::hint::black_box;
use core::ops::Range;

/// Actors whose memory is read at once.
pub(super) const BATCH: usize = 32;

impl Animator {
    /// Takes all actors to the time `now_s`.
    ///
    /// The time is in seconds from an origin of the caller's choice. The update finds what happened
    /// since the last one: see [`Self::events`] and
    /// [`Actor::root_delta`](super::Actor::root_delta).
    ///
    /// It visits only actors to which something happens, those that root motion moves, and those
    /// with spring bones in [`SpringMode::Game`](super::SpringMode::Game). If the clock goes back,
    /// it visits all actors, but nothing happens to them.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) for a time that is not finite or is more than
    /// [`StateMachine::MAX_TIME_S`] from 0. Nothing changes then.
    pub fn update(&mut self, now_s: f64) -> Result<()> {
        check_time(now_s)?;
        self.move_to(now_s);
        self.swing_all();
        Ok(())
    }

    /// Takes all actors to a time, which has been checked, without their spring bones.
    pub(crate) fn move_to(&mut self, now_s: f64) {
        span!("update");
        let back = now_s < self.now_s;
        (self.now_s, self.shown_s) = (now_s, now_s);
        self.queue.begin();
        self.schedule.due.clear();
        if back {
            let all = self.actors.ids().map(|id| id.index);
            self.schedule.due.extend(all);
        }
        self.schedule.collect(now_s);
        let due = self.schedule.due.len();
        for first in (0..due).step_by(BATCH) {
            let batch = first..due.min(first + BATCH);
            self.fetch(batch.clone());
            for number in batch {
                self.advance(self.schedule.due[number]);
            }
        }
        self.queue.end();
        self.warm();
    }

    /// Reads what the visits of a batch of due actors read.
    ///
    /// These reads do not depend on each other, so the processor waits for all of them at once. If
    /// most actors are due, it reads ahead by itself.
    fn fetch(&self, batch: Range<usize>) {
        if self.schedule.due.len() > self.actors.len() / 4 {
            return;
        }
        let batch = &self.schedule.due[batch];
        let actors = || batch.iter().map(|index| &self.actors[*index]);
        for actor in actors() {
            actor.fetch();
        }
        for actor in actors() {
            let records = actor.layers.records(&self.pools);
            black_box(records.first().map(|record| record.clip));
        }
    }

    /// Allocates evaluation buffers for the actors' records in advance.
    ///
    /// It does so if an actor has more records than any had before.
    pub(super) fn warm(&mut self) {
        // Longer lists are rare. Rounding up avoids another allocation for a slightly longer list.
        let most = self.pools.most_records().next_power_of_two().max(64);
        if most > self.schedule.warmed {
            self.schedule.warmed = most;
            self.poser.make_room(most, &self.threads);
        }
    }

    /// Takes one actor to the present time. Its events are delivered with the next update.
    pub(super) fn touch(&mut self, index: u32) {
        let actor = &self.actors[index];
        if actor.passed_s < actor.clock.local_s(self.now_s) {
            let (from, left_out) = (self.queue.len(), self.queue.left_out());
            self.advance(index);
            self.queue.put_off(from, left_out);
        }
    }

    /// Notes a change to an actor, which wakes it with the next update.
    pub(super) fn changed(&mut self, index: u32) {
        self.touched(index);
        let actor = &mut self.actors[index];
        actor.note_change();
        actor.changed = true;
        actor.still_from_s = f64::INFINITY;
        actor.walks_until_s = f64::NEG_INFINITY;
        self.schedule.wake.set(index, self.now_s);
        self.warm();
        self.note(index);
    }

    /// Computes what follows from the state of an actor that was restored: see [`Self::plan_wake`].
    ///
    /// It `keeps` its bounding sphere if that is the same.
    pub(super) fn resume(&mut self, index: u32, keeps: bool) {
        let actor = &self.actors[index];
        if actor.changed {
            return self.changed(index);
        }
        self.plan_wake(index, actor.passed_s);
        self.actors[index].note_change();
        match keeps {
            true => self.list(index),
            false => self.note(index),
        }
    }

    /// Moves an actor to which nothing happens but root motion, as [`Self::advance`] does. Returns
    /// false if something may happen.
    fn advance_root_only(&mut self, index: u32) -> bool {
        let actor = &mut self.actors[index];
        let (from_s, local_s) = (actor.passed_s, actor.clock.local_s(self.now_s));
        let walks = from_s < local_s && local_s < actor.walks_until_s && actor.is_alive();
        let records = actor.layers.records(&self.pools);
        let (true, Some(root), [record]) = (walks, &mut actor.root, records) else {
            return false;
        };
        let spans = [from_s, local_s].map(|time_s| record.unwrapped_s(time_s));
        let span = RecordSpan::new(*record, [from_s, local_s]);
        let mut step = Step::new(local_s - from_s);
        step.add(&self.library, &span, spans);
        root.moved(step.delta());
        actor.passed_s = local_s;
        self.moved(index);
        self.schedule.wake.set(index, f64::NEG_INFINITY);
        true
    }

    fn advance(&mut self, index: u32) {
        self.schedule.visits += 1;
        if self.advance_root_only(index) {
            return;
        }
        let Some(id) = self.actors.id(index) else {
            return;
        };
        let Self {
            library,
            actors,
            pools,
            queue,
            now_s,
            poser,
            threads,
            work,
            ..
        } = self;
        let actor = &mut actors[index];
        let local_s = actor.clock.local_s(*now_s);
        let back = local_s < actor.passed_s;
        // If the clock goes back, no time passes.
        let from_s = actor.passed_s.min(local_s);
        let offset = [actor.passed_s, local_s].map(|at_s| actor.inertialised_at(at_s).is_some());
        let mut changed = offset[0] != offset[1];
        // A rollback copies what a visit may change beside times, root motion and events.
        let may_change = back
            || actor.changed
            || actor.driver.is_some()
            || actor.needs_more()
            || actor.layers.blends(pools).next().is_some();
        let mut starts_or_ends = false;
        let mut step = actor.root.as_ref().map(|_| Step::new(local_s - from_s));
        let mut sink = Sink {
            actor: id,
            clock: actor.clock,
            now_s: *now_s,
            queue,
            delivers: !actor.is_silent,
            step: step.as_mut(),
        };
        let mut mix = Mix::new(library, pools, &mut actor.layers, local_s);
        let mut passed_s = from_s;
        loop {
            // The clips of a blend space that moves are rewritten at each step of its position.
            mix.local_s = local_s.min(mix.layers.next_blend_step_s(mix.pools, passed_s));
            starts_or_ends |= pass(&mut mix, &mut sink, passed_s, back);
            if mix.local_s == local_s {
                break;
            }
            passed_s = mix.local_s;
            mix.advance_blends(back);
        }
        if mix.advance_blends(back) {
            actor.version = actor.version.wrapping_add(1);
            changed = true;
        }
        if let (Some(driver), Some(machine)) = (&mut actor.driver, library.state_machine()) {
            let inertialiser = Inertialiser {
                library,
                poser,
                threads,
                own: actor.own_clip.as_deref(),
                inertialisation: &mut actor.inertialisation,
                samples: &mut work.samples,
            };
            let happens = (&mut sink, inertialiser, mix.records());
            driver.advance(library, machine, local_s, happens);
            driver.write(machine, &mut mix);
            actor.version = actor.version.wrapping_add(1);
            changed = true;
        }
        mix.local_s = local_s;
        let records = mix.records().len();
        mix.drop_faded();
        changed |= mix.records().len() < records;
        if let (Some(root), Some(step)) = (&mut actor.root, &step) {
            root.moved(step.delta());
        }
        changed |= actor.goals.advance(local_s);
        actor.passed_s = local_s;
        match may_change || starts_or_ends || changed {
            true => self.touched(index),
            false => self.moved(index),
        }
        self.plan_wake(index, local_s);
        if changed {
            self.note(index);
        }
    }

    /// Computes when an actor's pose becomes still, and when it must next be visited.
    fn plan_wake(&mut self, index: u32, local_s: f64) {
        let (library, pools) = (&self.library, &self.pools);
        let actor = &mut self.actors[index];
        actor.changed = false;
        actor.walks_until_s = walks_alone_until_s(library, pools, actor, local_s);
        let records = actor.layers.records(pools);
        let [goals_still_s, mut wakes_s] = actor.goals.times_s();
        actor.still_from_s = still_from_s(library, records).max(goals_still_s);
        if let Some(transition) = actor.inertialised_at(local_s) {
            let end_s = transition.end_s();
            actor.still_from_s = actor.still_from_s.max(end_s);
            // Its end changes the bounding sphere.
            wakes_s = wakes_s.min(end_s);
        }
        let step_s = actor.layers.next_blend_step_s(pools, local_s);
        if step_s.is_finite() {
            actor.still_from_s = f64::INFINITY;
            wakes_s = wakes_s.min(step_s);
        }
        if let (Some(driver), Some(machine)) = (&actor.driver, library.state_machine()) {
            let next = driver.wakes_s(machine, !actor.is_silent);
            wakes_s = wakes_s.min(next);
            if next <= local_s {
                actor.still_from_s = f64::INFINITY;
            }
        }
        if let Some(root) = &actor.root {
            // After a motion ends, the actor is visited once more to report that it stands still.
            let walks = || walks_until_s(library, records) > local_s;
            if actor.still_from_s > local_s || !root.is_still() || walks() {
                wakes_s = local_s;
            }
        }
        // An actor that the next update visits in any case needs no search for its next event.
        if wakes_s > local_s {
            let next = |record| next_s(library, record, local_s, !actor.is_silent);
            wakes_s = records.iter().map(next).fold(wakes_s, f64::min);
        }
        let wakes_s = if wakes_s <= local_s && !actor.clock.stands() {
            // Visit it in the next update, whatever the time is then.
            f64::NEG_INFINITY
        } else {
            actor.clock.animator_s(wakes_s)
        };
        self.schedule.wake.set(index, wakes_s);
    }
}

/// Takes the records of the caller's plays from `from_s` to the time of `mix`. Returns true if one
/// of them has started or ended.
fn pass(mix: &mut Mix<'_>, sink: &mut Sink<'_>, from_s: f64, back: bool) -> bool {
    let (library, to_s) = (mix.library, mix.local_s);
    let mut changed = false;
    for at in 0..mix.records().len() {
        let record = &mut mix.records_mut()[at];
        let (number, before) = (record.blend(), record.flags);
        let ends_later = || finish_s(library, record, to_s).is_some_and(|end_s| end_s > to_s);
        if back && number == 0 && ends_later() {
            record.flags &= !PlayRecord::FLAG_FINISHED;
        }
        if !record.has(PlayRecord::FLAG_STATE_MACHINE) {
            let span = RecordSpan::new(*record, [from_s, to_s]);
            let flags = sink.pass(library, &span);
            // Skip the store: a recent write would stall the next read.
            if flags != record.flags {
                record.flags = flags;
            }
        }
        let flags = [before, record.flags];
        changed |= flags[0] != flags[1];
        if flags[0] != flags[1] && number != 0 {
            mix.note_blend(number, flags);
        }
    }
    changed
}

/// The time until which nothing happens to an actor but the root motion of one clip, which goes on.
fn walks_alone_until_s(library: &Library, pools: &Pools, actor: &ActorState, local_s: f64) -> f64 {
    let [record] = actor.layers.records(pools) else {
        return f64::NEG_INFINITY;
    };
    let special = actor.needs_more() || actor.driver.is_some();
    let alone = actor.root.is_some() && !special && actor.layers.blends(pools).next().is_none();
    let steady = record.loop_mode() == LoopMode::Loop
        && record.has(PlayRecord::FLAG_STARTED)
        && !record.has(PlayRecord::FLAG_STATE_MACHINE)
        && (record.from_weight, record.from_speed) == (record.to_weight, record.to_speed)
        && record.to_weight > 0.0
        && record.to_speed != 0.0;
    match alone && steady && library.motion(record.clip).is_some() {
        true => next_s(library, record, local_s, !actor.is_silent),
        false => f64::NEG_INFINITY,
    }
}

/// The time until which root motion moves an actor.
///
/// Clips can move an actor even if their poses do not change.
fn walks_until_s(library: &Library, records: &[PlayRecord]) -> f64 {
    let moving = records
        .iter()
        .filter(|record| library.motion(record.clip).is_some());
    let until_s = moving.map(|record| {
        let duration_s = library.duration_s(record.clip);
        record.still_from_s(duration_s, true)
    });
    until_s.fold(f64::NEG_INFINITY, f64::max)
}

/// The time from which the played records no longer change the pose and the morph weights.
fn still_from_s(library: &Library, records: &[PlayRecord]) -> f64 {
    let still_s = records.iter().map(|record| {
        let clip = library.clips.get(usize::from(record.clip));
        let moves = clip.is_some_and(|clip| clip.changes_pose());
        record.still_from_s(library.duration_s(record.clip), moves)
    });
    still_s.fold(f64::NEG_INFINITY, f64::max)
}
