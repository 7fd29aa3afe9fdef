//! The update, which takes all actors to the present time.

use super::ActorId;
use super::carry::Cut;
use super::deliver::{Sink, finish_s, next_s};
use super::instances::Animator;
use super::library::Library;
use super::passing::Passing;
use super::record::PlayRecord;
use super::root::Step;
use crate::error::{Result, expect_in};
use crate::state_machine::StateMachine;

impl Animator {
    /// Takes all actors to the time `now_s`.
    ///
    /// The time is in seconds from an origin of the caller's choice. The update finds what happened
    /// since the last one: see [`Self::events`] and [`Self::root_delta`].
    ///
    /// It visits only actors to which something happens, and those that root motion moves. If the
    /// clock goes back, it visits all actors, but nothing happens to them.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) for a time that is not finite or is more than
    /// [`StateMachine::MAX_TIME_S`] from 0. Nothing changes then.
    pub fn update(&mut self, now_s: f64) -> Result<()> {
        check_time(now_s)?;
        let back = now_s < self.now_s;
        self.now_s = now_s;
        self.queue.begin();
        self.due.clear();
        if back {
            for id in self.actors.ids() {
                self.due.push(id.index);
            }
        }
        while let Some(index) = self.wake.pop(now_s) {
            self.due.push(index);
        }
        for number in 0..self.due.len() {
            self.visit(self.due[number]);
        }
        self.queue.end();
        self.warm();
        Ok(())
    }

    /// Allocates evaluation buffers for the actors' records in advance.
    ///
    /// It does so if an actor has more records than any had before.
    pub(super) fn warm(&mut self) {
        // Longer lists are rare. Rounding up avoids another allocation for a slightly longer list.
        let most = self.pool.most().next_power_of_two().max(64);
        if most > self.warmed {
            self.warmed = most;
            self.poser.make_room(most, &self.threads);
        }
    }

    /// Takes one actor to the present time. Its events are delivered with the next update.
    pub(super) fn touch(&mut self, index: u32) {
        let actor = self.actors.list.get(index as usize);
        if actor.is_some_and(|actor| actor.passed_s < actor.clock.local_s(self.now_s)) {
            let (from, left_out) = (self.queue.len(), self.queue.left_out());
            self.visit(index);
            self.queue.put_off(from, left_out);
        }
    }

    fn visit(&mut self, index: u32) {
        self.visits += 1;
        let Self {
            library,
            actors,
            pool,
            blends,
            queue,
            now_s,
            poser,
            threads,
            cut_work,
            ..
        } = self;
        let Some(actor) = actors.list.get_mut(index as usize).filter(|a| a.alive) else {
            return;
        };
        let local_s = actor.clock.local_s(*now_s);
        let back = local_s < actor.passed_s;
        // If the clock goes back, no time passes.
        let from_s = actor.passed_s.min(local_s);
        let mut step = actor.root.as_ref().map(|_| Step::new(local_s - from_s));
        let mut sink = Sink {
            actor: ActorId {
                index,
                generation: actor.generation,
            },
            clock: actor.clock,
            now_s: *now_s,
            queue,
            step: step.as_mut(),
        };
        for record in pool.get_mut(actor.block) {
            let (number, before) = (record.blend(), record.flags);
            let ends_later =
                || finish_s(library, record, local_s).is_some_and(|end_s| end_s > local_s);
            if back && number == 0 && ends_later() {
                record.flags &= !PlayRecord::FLAG_FINISHED;
            }
            if !record.has(PlayRecord::FLAG_STATE_MACHINE) {
                let passing = Passing::new(*record, [from_s, local_s]);
                record.flags = sink.pass(library, &passing);
            }
            if record.flags != before && number != 0 {
                blends.note(actor.blends, number, [before, record.flags]);
            }
        }
        blends.retain(&mut actor.blends, |play| !play.is_over(local_s));
        if blends.advance(library, actor.blends, local_s, back) {
            let records = (&mut *pool, &mut actor.block);
            blends.write(library, actor.blends, records, local_s);
            actor.version = actor.version.wrapping_add(1);
        }
        if let (Some(driver), Some(machine)) = (&mut actor.driver, library.state_machine()) {
            let cut = Cut {
                library,
                poser,
                threads,
                own: actor.own_pose.as_deref(),
                carry: &mut actor.carry,
                work: cut_work,
            };
            let records = pool.get(actor.block);
            driver.advance(library, machine, local_s, &mut sink, (cut, records));
            driver.write(library, machine, pool, &mut actor.block);
            actor.version = actor.version.wrapping_add(1);
        }
        if let (Some(root), Some(step)) = (&mut actor.root, &step) {
            root.moved(step.delta());
        }
        pool.retain(&mut actor.block, |record| !record.is_over(local_s));
        actor.goals.retain(|goal| !goal.is_over(local_s));
        actor.passed_s = local_s;
        self.plan_wake(index, local_s);
    }

    /// Computes when an actor's pose becomes still, and when it must next be visited.
    fn plan_wake(&mut self, index: u32, local_s: f64) {
        let Self {
            library,
            pool,
            blends,
            ..
        } = self;
        let Some(actor) = self.actors.list.get_mut(index as usize) else {
            return;
        };
        let records = pool.get(actor.block);
        actor.still_from_s = still_from_s(library, records);
        if let Some(carry) = actor.carry_at(local_s) {
            actor.still_from_s = actor.still_from_s.max(carry.end_s());
        }
        let mut wakes_s = f64::INFINITY;
        for goal in &actor.goals {
            let still_s = goal.still_from_s();
            actor.still_from_s = actor.still_from_s.max(still_s);
            if goal.weight.to == 0.0 {
                wakes_s = wakes_s.min(still_s);
            }
        }
        for record in records {
            wakes_s = wakes_s.min(next_s(library, record, local_s));
        }
        if blends.moves(actor.blends, local_s) {
            actor.still_from_s = f64::INFINITY;
            wakes_s = local_s;
        }
        if let (Some(driver), Some(machine)) = (&actor.driver, library.state_machine()) {
            let next = driver.wakes_s(machine);
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
        let wakes_s = if wakes_s <= local_s && !actor.clock.stands() {
            // Visit it in the next update, whatever the time is then.
            f64::NEG_INFINITY
        } else {
            actor.clock.animator_s(wakes_s)
        };
        self.wake.set(index, wakes_s);
    }
}

fn check_time(now_s: f64) -> Result<()> {
    expect_in(
        "now_s",
        now_s,
        -StateMachine::MAX_TIME_S,
        StateMachine::MAX_TIME_S,
    )
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

/// The time from which the played records no longer change the pose.
fn still_from_s(library: &Library, records: &[PlayRecord]) -> f64 {
    let still_s = records.iter().map(|record| {
        let clip = library.clips.get(usize::from(record.clip));
        let moves = clip.is_some_and(|clip| clip.changes_pose());
        record.still_from_s(library.duration_s(record.clip), moves)
    });
    still_s.fold(f64::NEG_INFINITY, f64::max)
}
