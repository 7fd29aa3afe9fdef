//! The wake times of actors, in a heap with an index by actor.

use crate::clone::clone_fields;
use crate::grow::reserve_all;

/// Marks an actor that is not in the heap.
const ABSENT: u32 = u32::MAX;

/// A binary heap of actors, ordered by wake time.
///
/// Each actor is in it at most once. Its time can be changed, and it can be removed. Nothing is
/// allocated once it has held every actor.
#[derive(Debug, Default)]
pub(super) struct WakeHeap {
    /// Times and actors, the earliest first: `heap[i]` is not later than `heap[2i + 1]` and
    /// `heap[2i + 2]`.
    heap: Vec<(f64, u32)>,
    /// For each actor, its index in the heap.
    indices: Vec<u32>,
}

clone_fields! {
    WakeHeap { heap, indices }
}

impl WakeHeap {
    /// Reserves memory for this many actors in all.
    pub(super) fn reserve(&mut self, actors: usize) {
        reserve_all(&mut self.heap, actors);
        reserve_all(&mut self.indices, actors);
    }

    /// Removes all actors.
    pub(super) fn clear(&mut self) {
        self.heap.clear();
        self.indices.clear();
    }

    /// Sets the time at which an actor wakes. An infinite time removes it.
    pub(super) fn set(&mut self, actor: u32, time_s: f64) {
        let index = actor as usize;
        if index >= self.indices.len() {
            self.indices.resize(index + 1, ABSENT);
        }
        let at = self.indices[index];
        if time_s == f64::INFINITY || time_s.is_nan() {
            if at != ABSENT {
                self.remove(at as usize);
            }
            return;
        }
        let at = if at == ABSENT {
            self.heap.push((time_s, actor));
            self.heap.len() - 1
        } else {
            self.heap[at as usize].0 = time_s;
            at as usize
        };
        self.indices[index] = at as u32;
        self.settle(at);
    }

    /// Removes and returns the first actor that wakes at `now_s` or before.
    pub(super) fn pop(&mut self, now_s: f64) -> Option<u32> {
        let (time_s, actor) = *self.heap.first()?;
        if time_s > now_s {
            return None;
        }
        self.remove(0);
        Some(actor)
    }

    fn remove(&mut self, at: usize) {
        let (_, actor) = self.heap.swap_remove(at);
        self.indices[actor as usize] = ABSENT;
        if let Some((_, moved)) = self.heap.get(at) {
            self.indices[*moved as usize] = at as u32;
            self.settle(at);
        }
    }

    /// Moves the entry at `at` to where it belongs in the heap.
    fn settle(&mut self, mut at: usize) {
        while at > 0 && self.heap[at].0 < self.heap[(at - 1) / 2].0 {
            self.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
        loop {
            let children = [2 * at + 1, 2 * at + 2];
            let children = children
                .into_iter()
                .filter(|child| *child < self.heap.len());
            let least = children.min_by(|a, b| self.heap[*a].0.total_cmp(&self.heap[*b].0));
            match least {
                Some(child) if self.heap[child].0 < self.heap[at].0 => {
                    self.swap(at, child);
                    at = child;
                }
                _ => return,
            }
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        for at in [a, b] {
            self.indices[self.heap[at].1 as usize] = at as u32;
        }
    }
}

/// The times at which actors must be visited.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    pub(super) wake: WakeHeap,
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

    /// Lists the actors that wake at `now_s` or before.
    pub(super) fn collect(&mut self, now_s: f64) {
        while let Some(index) = self.wake.pop(now_s) {
            self.due.push(index);
        }
    }
}
