//! The wake times of actors, in a heap with an index by actor.

use crate::clone::clone_fields;

/// Marks an actor that is not in the heap.
const NOWHERE: u32 = u32::MAX;

/// A binary heap of actors, ordered by wake time.
///
/// Each actor is in it at most once. Its time can be changed, and it can be removed. Nothing is
/// allocated once it has held every actor.
#[derive(Debug, Default)]
pub struct WakeHeap {
    /// Times and actors, the earliest first: `heap[i]` is not later than `heap[2i + 1]` and
    /// `heap[2i + 2]`.
    heap: Vec<(f64, u32)>,
    /// For each actor, its index in the heap.
    places: Vec<u32>,
}

clone_fields! {
    WakeHeap { heap, places }
}

impl WakeHeap {
    /// Reserves memory for this many actors in all.
    pub fn reserve(&mut self, actors: usize) {
        self.heap.reserve(actors.saturating_sub(self.heap.len()));
        self.places
            .reserve(actors.saturating_sub(self.places.len()));
    }

    /// Removes all actors.
    pub(super) fn clear(&mut self) {
        self.heap.clear();
        self.places.clear();
    }

    /// Sets the time at which an actor wakes. An infinite time removes it.
    pub fn set(&mut self, actor: u32, time_s: f64) {
        let index = actor as usize;
        if index >= self.places.len() {
            self.places.resize(index + 1, NOWHERE);
        }
        let place = self.places[index];
        if time_s == f64::INFINITY || time_s.is_nan() {
            if place != NOWHERE {
                self.remove(place as usize);
            }
            return;
        }
        let place = if place == NOWHERE {
            self.heap.push((time_s, actor));
            self.heap.len() - 1
        } else {
            self.heap[place as usize].0 = time_s;
            place as usize
        };
        self.places[index] = place as u32;
        self.settle(place);
    }

    /// Removes and returns the first actor that wakes at `now_s` or before.
    pub fn pop(&mut self, now_s: f64) -> Option<u32> {
        let (time_s, actor) = *self.heap.first()?;
        if time_s > now_s {
            return None;
        }
        self.remove(0);
        Some(actor)
    }

    /// The number of actors in it.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.heap.len()
    }

    fn remove(&mut self, place: usize) {
        let (_, actor) = self.heap.swap_remove(place);
        self.places[actor as usize] = NOWHERE;
        if let Some((_, moved)) = self.heap.get(place) {
            self.places[*moved as usize] = place as u32;
            self.settle(place);
        }
    }

    /// Moves the entry at `place` to where it belongs in the heap.
    fn settle(&mut self, mut place: usize) {
        while place > 0 && self.heap[place].0 < self.heap[(place - 1) / 2].0 {
            self.swap(place, (place - 1) / 2);
            place = (place - 1) / 2;
        }
        loop {
            let children = [2 * place + 1, 2 * place + 2];
            let children = children
                .into_iter()
                .filter(|child| *child < self.heap.len());
            let least = children.min_by(|a, b| self.heap[*a].0.total_cmp(&self.heap[*b].0));
            match least {
                Some(child) if self.heap[child].0 < self.heap[place].0 => {
                    self.swap(place, child);
                    place = child;
                }
                _ => return,
            }
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        for place in [a, b] {
            self.places[self.heap[place].1 as usize] = place as u32;
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
        self.due.reserve(actors.saturating_sub(self.due.len()));
    }

    /// Lists the actors that wake at `now_s` or before.
    pub(super) fn collect(&mut self, now_s: f64) {
        while let Some(index) = self.wake.pop(now_s) {
            self.due.push(index);
        }
    }
}
