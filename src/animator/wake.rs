//! The wake times of actors, in lists by time.

use crate::grow::reserve_all;
use core::hint::black_box;

/// Ends a list of blocks, and marks an actor that is in none.
const NONE: u32 = u32::MAX;

/// Lists for times: each holds the times of one step in [`LISTS`].
const STEPS_PER_S: f64 = 64.0;
const LISTS: usize = 256;

/// The list of actors that wake with the next update, whatever its time is.
const NEXT: usize = LISTS;

/// Actors in a block: as many as fit in a cache line.
const PER_BLOCK: usize = 14;

/// A part of a list. All blocks of a list but the first are full.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Block {
    actors: [u32; PER_BLOCK],
    /// The next block of its list, or of those that are free.
    next: u32,
    list: u16,
    len: u16,
}

const _: () = assert!(size_of::<Block>() == 64);

/// Actors by wake time: a timing wheel (Varghese and Lauck, "Hashed and Hierarchical Timing
/// Wheels", 1987).
///
/// Each actor is in it at most once. Its time can be changed, and it can be removed, all in
/// constant time. An update looks only at the lists of the time that passed since the last one. The
/// lists are of blocks, so that reading one does not wait for memory once for each actor. Nothing
/// is allocated for actors that memory was reserved for.
#[derive(Debug, Clone)]
pub(super) struct WakeWheel {
    blocks: Vec<Block>,
    /// The first block that is free.
    free: u32,
    /// The first block of each list.
    firsts: Vec<u32>,
    /// By actor: its block, and its number in the block in the lowest four bits.
    places: Vec<u32>,
    /// By actor that is in a list: when it wakes.
    times_s: Vec<f64>,
    /// The step of the last update.
    step: i64,
}

impl Default for WakeWheel {
    fn default() -> Self {
        Self {
            blocks: Vec::new(),
            free: NONE,
            firsts: vec![NONE; LISTS + 1],
            places: Vec::new(),
            times_s: Vec::new(),
            step: i64::MIN,
        }
    }
}

/// The step that a time lies in.
fn step_of(time_s: f64) -> i64 {
    (time_s * STEPS_PER_S).floor() as i64
}

fn list_of(step: i64) -> usize {
    step.rem_euclid(LISTS as i64) as usize
}

/// The block and the number in it of an actor that is in a list.
fn place(place: u32) -> (usize, usize) {
    ((place >> 4) as usize, (place & 15) as usize)
}

impl WakeWheel {
    /// Reserves memory for this many actors in all.
    pub(super) fn reserve(&mut self, actors: usize) {
        // Each list may have one block that is not full.
        let blocks = actors.min(actors / PER_BLOCK + LISTS + 1);
        reserve_all(&mut self.blocks, blocks);
        reserve_all(&mut self.places, actors);
        reserve_all(&mut self.times_s, actors);
    }

    /// The time at which an actor wakes, as [`Self::set`] takes it.
    pub(super) fn time_s(&self, actor: u32) -> f64 {
        let at = self.places.get(actor as usize).copied().unwrap_or(NONE);
        match self.times_s.get(actor as usize) {
            Some(time_s) if at != NONE => *time_s,
            _ => f64::INFINITY,
        }
    }

    /// Reads what [`Self::set`] reads of an actor.
    pub(super) fn fetch(&self, actor: u32) {
        let at = self.places.get(actor as usize).copied().unwrap_or(NONE);
        let block = self.blocks.get(place(at).0);
        black_box((
            self.times_s.get(actor as usize),
            block.map(|block| block.len),
        ));
    }

    /// Goes back to the step of a time, for actors whose times are still ahead of it.
    pub(super) fn rewind(&mut self, now_s: f64) {
        self.step = step_of(now_s);
    }

    /// Sets the time at which an actor wakes: minus infinity is the next update, whatever its time
    /// is. An infinite time removes it.
    pub(super) fn set(&mut self, actor: u32, time_s: f64) {
        let index = actor as usize;
        if index >= self.places.len() {
            self.places.resize(index + 1, NONE);
            self.times_s.resize(index + 1, f64::INFINITY);
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
        self.times_s[index] = time_s;
        self.insert(actor, list);
    }

    fn insert(&mut self, actor: u32, list: usize) {
        let first = self.firsts[list];
        let has_room = |block: &Block| usize::from(block.len) < PER_BLOCK;
        let at = match self.blocks.get(first as usize) {
            Some(block) if has_room(block) => first,
            _ => self.add_block(list),
        };
        let block = &mut self.blocks[at as usize];
        let number = usize::from(block.len);
        block.actors[number] = actor;
        block.len += 1;
        self.places[actor as usize] = at << 4 | number as u32;
    }

    /// Puts an empty block before the others of a list. Returns its index.
    fn add_block(&mut self, list: usize) -> u32 {
        let block = Block {
            actors: [NONE; PER_BLOCK],
            next: self.firsts[list],
            list: list as u16,
            len: 0,
        };
        let at = match self.blocks.get_mut(self.free as usize) {
            Some(free) => {
                let next = core::mem::replace(free, block).next;
                core::mem::replace(&mut self.free, next)
            }
            None => {
                self.blocks.push(block);
                self.blocks.len() as u32 - 1
            }
        };
        self.firsts[list] = at;
        at
    }

    fn free_block(&mut self, at: u32) {
        self.blocks[at as usize].next = core::mem::replace(&mut self.free, at);
    }

    fn remove(&mut self, actor: u32) {
        let at = core::mem::replace(&mut self.places[actor as usize], NONE);
        if at == NONE {
            return;
        }
        // The last actor of the first block takes its place.
        let (of, number) = place(at);
        let list = usize::from(self.blocks[of].list);
        let first = self.firsts[list];
        let block = &mut self.blocks[first as usize];
        block.len -= 1;
        let moved = block.actors[usize::from(block.len)];
        if block.len == 0 {
            self.firsts[list] = block.next;
            self.free_block(first);
        }
        if moved != actor {
            self.blocks[of].actors[number] = moved;
            self.places[moved as usize] = at;
        }
    }

    /// Moves the actors that wake at `now_s` or before to `due`.
    fn take(&mut self, now_s: f64, due: &mut Vec<u32>) {
        self.take_list(NEXT, f64::INFINITY, due);
        let now = step_of(now_s);
        // A whole turn passes all lists. The times say which of their actors are due.
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
        let mut at = core::mem::replace(&mut self.firsts[list], NONE);
        while let Some(&block) = self.blocks.get(at as usize) {
            self.free_block(at);
            at = block.next;
            // Backward, those that were put in by ascending index come out by descending index,
            // which is sorted quickly.
            for &actor in block.actors.iter().take(block.len.into()).rev() {
                if self.times_s[actor as usize] <= now_s {
                    self.places[actor as usize] = NONE;
                    due.push(actor);
                } else {
                    self.insert(actor, list);
                }
            }
        }
    }

    /// Sorts in again what was put into the list of a later step than its own.
    fn turn_back(&mut self, now: i64) {
        self.step = now;
        for actor in 0..self.places.len() as u32 {
            if self.places[actor as usize] != NONE {
                self.set(actor, self.times_s[actor as usize]);
            }
        }
    }
}

/// The times at which actors must be visited.
#[derive(Debug, Clone, Default)]
pub(super) struct Schedule {
    pub(super) wake: WakeWheel,
    /// Actors that the current update visits.
    pub(super) due: Vec<u32>,
    /// The number of visits to actors since creation.
    pub(super) visits: u64,
    /// The largest number of records per actor that evaluation buffers were allocated for.
    pub(super) warmed: usize,
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
