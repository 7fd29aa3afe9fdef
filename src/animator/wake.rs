//! The wake times of actors, in lists by time.

use crate::clone::clone_fields;
use crate::grow::reserve_all;

/// Ends a list, and marks an actor that is in none.
const NONE: u32 = u32::MAX;

/// Lists for times: each holds the times of one step in [`LISTS`].
const STEPS_PER_S: f64 = 64.0;
const LISTS: usize = 512;

/// The list of actors that wake with the next update, whatever its time is.
const NEXT: usize = LISTS;

/// The list of an actor that is in none.
const ABSENT: u16 = u16::MAX;

/// Actors by wake time: a timing wheel (Varghese and Lauck, "Hashed and Hierarchical Timing
/// Wheels", 1987).
///
/// Each actor is in it at most once. Its time can be changed, and it can be removed, all in constant
/// time. An update looks only at the lists of the time that passed since the last one. Nothing is
/// allocated once it has held every actor.
#[derive(Debug)]
pub(super) struct WakeWheel {
    /// By actor, like the next two: when it wakes.
    times_s: Vec<f64>,
    /// The actors before and after it in its list.
    neighbours: Vec<[u32; 2]>,
    lists: Vec<u16>,
    /// The first actor of each list.
    firsts: Vec<u32>,
    /// The step of the last update.
    step: i64,
}

impl Default for WakeWheel {
    fn default() -> Self {
        Self {
            times_s: Vec::new(),
            neighbours: Vec::new(),
            lists: Vec::new(),
            firsts: vec![NONE; LISTS + 1],
            step: i64::MIN,
        }
    }
}

clone_fields! {
    WakeWheel { times_s, neighbours, lists, firsts, step }
}

/// The step that a time lies in.
fn step_of(time_s: f64) -> i64 {
    (time_s * STEPS_PER_S).floor() as i64
}

/// The list of a step.
fn list_of(step: i64) -> usize {
    step.rem_euclid(LISTS as i64) as usize
}

impl WakeWheel {
    /// Reserves memory for this many actors in all.
    pub(super) fn reserve(&mut self, actors: usize) {
        reserve_all(&mut self.times_s, actors);
        reserve_all(&mut self.neighbours, actors);
        reserve_all(&mut self.lists, actors);
    }

    /// Removes all actors.
    pub(super) fn clear(&mut self) {
        self.times_s.clear();
        self.neighbours.clear();
        self.lists.clear();
        self.firsts.fill(NONE);
        self.step = i64::MIN;
    }

    /// Sets the time at which an actor wakes: minus infinity is the next update, whatever its time
    /// is. An infinite time removes it.
    pub(super) fn set(&mut self, actor: u32, time_s: f64) {
        let index = actor as usize;
        if index >= self.lists.len() {
            self.times_s.resize(index + 1, f64::INFINITY);
            self.neighbours.resize(index + 1, [NONE; 2]);
            self.lists.resize(index + 1, ABSENT);
        }
        self.remove(actor);
        if time_s == f64::INFINITY || time_s.is_nan() {
            return;
        }
        let list = match time_s == f64::NEG_INFINITY {
            true => NEXT,
            // A time that has passed is found as one of the last update's step.
            false => list_of(step_of(time_s).max(self.step)),
        };
        self.insert(actor, time_s, list);
    }

    fn insert(&mut self, actor: u32, time_s: f64, list: usize) {
        let (index, after) = (actor as usize, self.firsts[list]);
        self.firsts[list] = actor;
        self.times_s[index] = time_s;
        self.neighbours[index] = [NONE, after];
        self.lists[index] = list as u16;
        if let Some([before, _]) = self.neighbours.get_mut(after as usize) {
            *before = actor;
        }
    }

    fn remove(&mut self, actor: u32) {
        let index = actor as usize;
        let list = core::mem::replace(&mut self.lists[index], ABSENT);
        if list == ABSENT {
            return;
        }
        self.times_s[index] = f64::INFINITY;
        let [before, after] = self.neighbours[index];
        if let Some(neighbour) = self.neighbours.get_mut(after as usize) {
            neighbour[0] = before;
        }
        match self.neighbours.get_mut(before as usize) {
            Some(neighbour) => neighbour[1] = after,
            None => self.firsts[usize::from(list)] = after,
        }
    }

    /// Moves the actors that wake at `now_s` or before to `due`.
    fn take(&mut self, now_s: f64, due: &mut Vec<u32>) {
        self.take_list(NEXT, f64::INFINITY, due);
        let now = step_of(now_s);
        // Those of a whole turn are all lists. Their times say which of them are due.
        let first = self.step.clamp(now.saturating_sub(LISTS as i64 - 1), now);
        for step in first..=now {
            self.take_list(list_of(step), now_s, due);
        }
        if now < self.step {
            self.turn_back(now);
        }
        self.step = now;
    }

    /// Moves the actors of a list that wake at `now_s` or before to `due`.
    fn take_list(&mut self, list: usize, now_s: f64, due: &mut Vec<u32>) {
        let mut actor = self.firsts[list];
        while let Some([_, after]) = self.neighbours.get(actor as usize).copied() {
            if self.times_s[actor as usize] <= now_s {
                self.remove(actor);
                due.push(actor);
            }
            actor = after;
        }
    }

    /// Sorts in again what was put into the list of a later step than its own.
    fn turn_back(&mut self, now: i64) {
        self.step = now;
        for actor in 0..self.times_s.len() as u32 {
            let time_s = self.times_s[actor as usize];
            if time_s.is_finite() {
                self.set(actor, time_s);
            }
        }
    }
}

/// The times at which actors must be visited.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    pub(super) wake: WakeWheel,
    /// Actors that the current update visits.
    pub(super) due: Vec<u32>,
    /// The number of visits to actors since creation.
    pub(super) visits: u64,
    /// The largest number of records per actor that evaluation buffers were allocated for.
    pub(super) warmed: usize,
}

clone_fields! {
    Schedule { wake, due, visits, warmed }
}

impl Schedule {
    /// Reserves memory for this many actors.
    pub(super) fn reserve(&mut self, actors: usize) {
        self.wake.reserve(actors);
        reserve_all(&mut self.due, actors);
    }

    /// Lists the actors that wake at `now_s` or before, as they lie in memory.
    pub(super) fn collect(&mut self, now_s: f64) {
        self.wake.take(now_s, &mut self.due);
        self.due.sort_unstable();
        self.due.dedup();
    }
}
