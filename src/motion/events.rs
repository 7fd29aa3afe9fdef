//! Events: named times of a clip, each delivered exactly once per cycle.

use super::playback::{LoopMode, has_passes, within};
use crate::error::{Result, expect_in};
use crate::order;

/// The events of a clip: named times from 0 to its duration.
///
/// Several events may have the same time or name. They are delivered by the rules of
/// [`AnimationEventKind::Clip`](crate::animator::AnimationEventKind::Clip).
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct ClipEvents {
    pub(super) duration_s: f64,
    /// Sorted by time. Events with the same time keep the order in which they were given.
    events: Vec<Event>,
    /// The number of events at time 0.
    pub(super) at_start: usize,
    /// The number of events before the duration.
    pub(super) before_end: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Event {
    pub(crate) time_s: f64,
    /// Index of its name among those of the character.
    pub(crate) name: u16,
}

impl ClipEvents {
    /// Creates the events of a clip that lasts `duration_s`, in any order.
    ///
    /// A time that equals the duration when rounded to `f32`, the precision of clips, counts as the
    /// duration.
    pub(crate) fn new(duration_s: f64, mut events: Vec<Event>) -> Result<Self> {
        expect_in("duration_s", duration_s, 0.0, f32::MAX)?;
        for (index, Event { time_s, .. }) in events.iter_mut().enumerate() {
            if *time_s as f32 == duration_s as f32 {
                *time_s = duration_s;
            }
            expect_in("time_s", *time_s, 0.0, duration_s).map_err(|why| why.at("event", index))?;
            // Avoid negative zero, which would sort before zero.
            *time_s += 0.0;
        }
        order::sort_by(&mut events, |a, b| a.time_s.total_cmp(&b.time_s));
        Ok(Self {
            duration_s,
            at_start: events.partition_point(|event| event.time_s <= 0.0),
            before_end: events.partition_point(|event| event.time_s < duration_s),
            events,
        })
    }

    pub(crate) fn duration_s(&self) -> f64 {
        self.duration_s
    }

    /// The events in order of time.
    pub(crate) fn list(&self) -> &[Event] {
        &self.events
    }
}

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

/// The events of a step, in the order in which they are passed: each with its unwrapped time.
///
/// Each event is computed when it is taken, so a step over a month costs only as much as the events
/// that are taken from it.
#[must_use = "events are delivered by iterating"]
pub(crate) struct Passed<'a> {
    line: Line<'a>,
    /// Numbers of the remaining points, `low..high`. Backward, they are taken from the end.
    low: i128,
    high: i128,
    backward: bool,
}

impl ClipEvents {
    /// The events that a step from one unwrapped time to another passes.
    ///
    /// The rules are those of
    /// [`AnimationEventKind::Clip`](crate::animator::AnimationEventKind::Clip). If the step is not
    /// the first one of a play (`started`), the events at its start are left out. There are none if
    /// a time is not a number. Times beyond 2⁴⁸ cycles are clamped to that. A clip without duration
    /// does not loop.
    pub(crate) fn passed(
        &self,
        [from_s, to_s]: [f64; 2],
        loop_mode: LoopMode,
        started: bool,
    ) -> Passed<'_> {
        let line = Line::new(self, loop_mode);
        let backward = to_s < from_s;
        let nowhere = to_s == from_s || from_s.is_nan() || to_s.is_nan();
        let (low, high) = if self.list().is_empty() || nowhere {
            (0, 0)
        } else if backward {
            (line.before(to_s, false), line.behind(from_s, started))
        } else {
            (line.ahead_of(from_s, started), line.before(to_s, true))
        };
        Passed {
            line,
            low,
            high: high.max(low),
            backward,
        }
    }

    /// The unwrapped time of the first event that a play passes from `from_s` on, if there is one.
    ///
    /// It is that of the first of [`Self::passed`] in a step without end.
    pub(crate) fn next_from(
        &self,
        from_s: f64,
        backward: bool,
        loop_mode: LoopMode,
        started: bool,
    ) -> Option<f64> {
        if self.list().is_empty() || from_s.is_nan() {
            return None;
        }
        let line = Line::new(self, loop_mode);
        let number = match backward {
            true => line.behind(from_s, started) - 1,
            false => line.ahead_of(from_s, started),
        };
        let (_, unwrapped_s) = line.event(number).filter(|_| line.has(number))?;
        Some(unwrapped_s)
    }
}

impl Passed<'_> {
    /// Keeps only the first `max` events. Returns the number of events that this leaves out.
    pub(crate) fn limit(&mut self, max: usize) -> u64 {
        let left = self.high - self.low;
        let kept = left.min(max as i128);
        if self.backward {
            self.low = self.high - kept;
        } else {
            self.high = self.low + kept;
        }
        u64::try_from(left - kept).unwrap_or(u64::MAX)
    }
}

impl Iterator for Passed<'_> {
    type Item = (Event, f64);

    fn next(&mut self) -> Option<Self::Item> {
        if self.low >= self.high {
            return None;
        }
        let number = if self.backward {
            self.high -= 1;
            self.high
        } else {
            self.low += 1;
            self.low - 1
        };
        self.line.event(number)
    }
}
