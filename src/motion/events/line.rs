//! The events of all cycles on one line of unwrapped time, with consecutive numbers.
//!
//! Number 0 is the first event of cycle 0. In the code of this file, a *pass* is one run through
//! the clip, and a *cycle* is what repeats: one pass, or two with [`LoopMode::PingPong`].

use super::clip_events::{ClipEvents, Event};
use crate::motion::playback::{LoopMode, has_passes, within};

/// A clip's events as an endless line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    events: &'a ClipEvents,
    loop_mode: LoopMode,
    per_cycle: usize,
}

impl<'a> Line<'a> {
    pub(super) fn new(events: &'a ClipEvents, loop_mode: LoopMode) -> Self {
        let loop_mode = if has_passes(events.duration_s) {
            loop_mode
        } else {
            LoopMode::Once
        };
        let per_cycle = match loop_mode {
            LoopMode::Loop | LoopMode::Once => events.list().len(),
            LoopMode::PingPong => events.before_end + events.list().len() - events.at_start,
        };
        Self {
            events,
            loop_mode,
            per_cycle,
        }
    }

    fn cycle_s(&self) -> f64 {
        match self.loop_mode {
            LoopMode::Loop | LoopMode::Once => self.events.duration_s,
            LoopMode::PingPong => 2.0 * self.events.duration_s,
        }
    }

    /// The cycle of a point, and its rank in that cycle.
    fn split(&self, number: i128) -> (i64, usize) {
        let per_cycle = self.per_cycle.max(1) as i64;
        // Nearly all numbers are short, and divide much faster.
        if let Ok(number) = i64::try_from(number) {
            let rank = number.rem_euclid(per_cycle) as usize;
            return (number.div_euclid(per_cycle), rank);
        }
        let per_cycle = i128::from(per_cycle);
        let cycle = number.div_euclid(per_cycle) as i64;
        (cycle, number.rem_euclid(per_cycle) as usize)
    }

    /// The event of a point.
    pub(super) fn event(&self, number: i128) -> Option<(Event, f64)> {
        let (index, unwrapped_s) = self.point(self.split(number));
        let event = self.events.list().get(index)?;
        Some((*event, unwrapped_s))
    }

    /// The index of the event of a point with this cycle and rank, and its unwrapped time.
    ///
    /// The time never decreases as the number increases, even with rounding: within a pass, times
    /// are clamped to its ends. These ends are the same products for both passes that meet there.
    fn point(&self, (cycle, rank): (i64, usize)) -> (usize, f64) {
        let duration_s = self.events.duration_s;
        let outward = match self.loop_mode {
            LoopMode::Loop | LoopMode::Once => self.events.list().len(),
            LoopMode::PingPong => self.events.before_end,
        };
        let (event, pass) = if rank < outward {
            let passes = if self.loop_mode == LoopMode::PingPong {
                2
            } else {
                1
            };
            (rank, passes * cycle)
        } else {
            let back = rank - outward;
            (
                (self.events.list().len() - 1).saturating_sub(back),
                2 * cycle + 1,
            )
        };
        let time_s = self
            .events
            .list()
            .get(event)
            .map_or(0.0, |event| event.time_s);
        let (start_s, end_s) = (pass as f64 * duration_s, (pass + 1) as f64 * duration_s);
        let unwrapped_s = match (rank < outward, time_s == duration_s) {
            (true, true) => end_s,
            (true, false) => (start_s + time_s).min(end_s),
            (false, true) => start_s,
            (false, false) => (end_s - time_s).max(start_s),
        };
        (event, unwrapped_s)
    }

    /// The number of points before a time, and also on it if `and_on`.
    ///
    /// They are counted from the first point of cycle 0. Before that, the number is negative.
    pub(super) fn before(&self, unwrapped_s: f64, and_on: bool) -> i128 {
        let per_cycle = self.per_cycle;
        let (first, cycles) = if self.loop_mode == LoopMode::Once {
            (0, 1)
        } else {
            // The quotient is off by less than one. A point on a seam may belong to the cycle
            // before.
            let length_s = self.cycle_s();
            let cycle = (within(unwrapped_s, length_s) / length_s).floor() as i64;
            (cycle - 2, 5)
        };
        // Numbers from the first point of the first cycle on.
        let is_before = |number: usize| {
            let (cycle, rank) = (number / per_cycle, number % per_cycle);
            let (_, at) = self.point((first + cycle as i64, rank));
            at < unwrapped_s || (and_on && at == unwrapped_s)
        };
        let (mut low, mut high) = (0, cycles * per_cycle);
        while low < high {
            let middle = low + (high - low) / 2;
            if is_before(middle) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        i128::from(first) * per_cycle as i128 + low as i128
    }

    /// The number of the first point that a step forward from a time passes.
    pub(super) fn ahead_of(&self, from_s: f64, started: bool) -> i128 {
        match started {
            true => self.before(from_s, true),
            false => self.first_from(from_s),
        }
    }

    /// One past the first point that a step backward from a time passes.
    pub(super) fn behind(&self, from_s: f64, started: bool) -> i128 {
        match started {
            true => self.before(from_s, false),
            false => self.last_from(from_s),
        }
    }

    /// Returns true if there is a point with this number.
    pub(super) fn has(&self, number: i128) -> bool {
        self.loop_mode != LoopMode::Once || (0..self.per_cycle as i128).contains(&number)
    }

    /// The number of the first point of a forward play that starts at a time.
    ///
    /// At the seam of a loop, the points that end there are left out.
    fn first_from(&self, unwrapped_s: f64) -> i128 {
        let first = self.before(unwrapped_s, false);
        let (cycle, _) = self.split(first);
        let ends = self.loop_mode == LoopMode::Loop
            && (cycle + 1) as f64 * self.events.duration_s == unwrapped_s;
        if ends {
            (i128::from(cycle) + 1) * self.per_cycle as i128
        } else {
            first
        }
    }

    /// One past the first point of a backward play that starts at a time.
    ///
    /// At the seam of a loop, the points that begin there are left out.
    fn last_from(&self, unwrapped_s: f64) -> i128 {
        let end = self.before(unwrapped_s, true);
        let (cycle, _) = self.split(end - 1);
        let begins = self.loop_mode == LoopMode::Loop
            && cycle as f64 * self.events.duration_s == unwrapped_s;
        if begins {
            i128::from(cycle) * self.per_cycle as i128
        } else {
            end
        }
    }
}
