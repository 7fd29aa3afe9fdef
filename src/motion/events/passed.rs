//! Iteration over the events of a step.

use super::clip_events::{ClipEvents, Event};
use super::line::Line;
use crate::motion::playback::LoopMode;

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
