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

/// An actor in one of the lists, or in none.
#[derive(Debug, Clone, Copy)]
struct Entry {
    time_s: f64,
    list: u32,
    before: u32,
    after: u32,
}

impl Entry {
    const ABSENT: Self = Self {
        time_s: f64::INFINITY,
        list: NONE,
        before: NONE,
        after: NONE,
    };
}

/// Actors by wake time: a timing wheel (Varghese and Lauck, "Hashed and Hierarchical Timing
/// Wheels", 1987).
///
/// Each actor is in it at most once. Its time can be changed, and it can be removed, all in constant
/// time. An update looks only at the lists of the time that passed since the last one. Nothing is
/// allocated once it has held every actor.
#[derive(Debug)]
pub(super) struct WakeWheel {
    /// By actor.
    entries: Vec<Entry>,
    /// The first actor of each list.
    firsts: Vec<u32>,
    /// The step of the last update.
    step: i64,
}

impl Default for WakeWheel {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            firsts: vec![NONE; LISTS + 1],
            step: i64::MIN,
        }
    }
}

clone_fields! {
    WakeWheel { entries, firsts, step }
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
        reserve_all(&mut self.entries, actors);
    }

    /// Removes all actors.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.firsts.fill(NONE);
        self.step = i64::MIN;
    }

    /// Sets the time at which an actor wakes: minus infinity is the next update, whatever its time
    /// is. An infinite time removes it.
    pub(super) fn set(&mut self, actor: u32, time_s: f64) {
        let index = actor as usize;
        if index >= self.entries.len() {
            self.entries.resize(index + 1, Entry::ABSENT);
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
        let after = core::mem::replace(&mut self.firsts[list], actor);
        self.entries[actor as usize] = Entry {
            time_s,
            list: list as u32,
            before: NONE,
            after,
        };
        if let Some(after) = self.entries.get_mut(after as usize) {
            after.before = actor;
        }
    }

    fn remove(&mut self, actor: u32) {
        let entry = core::mem::replace(&mut self.entries[actor as usize], Entry::ABSENT);
        if let Some(after) = self.entries.get_mut(entry.after as usize) {
            after.before = entry.before;
        }
        if let Some(before) = self.entries.get_mut(entry.before as usize) {
            before.after = entry.after;
        } else if let Some(first) = self.firsts.get_mut(entry.list as usize) {
            *first = entry.after;
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
        while let Some(entry) = self.entries.get(actor as usize) {
            let (after, wakes) = (entry.after, entry.time_s <= now_s);
            if wakes {
                self.remove(actor);
                due.push(actor);
            }
            actor = after;
        }
    }

    /// Sorts in again what was put into the list of a later step than its own.
    fn turn_back(&mut self, now: i64) {
        self.step = now;
        for actor in 0..self.entries.len() as u32 {
            let time_s = self.entries[actor as usize].time_s;
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
