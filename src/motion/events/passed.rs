//! Iteration over the events of a step.

use super::clip_events::ClipEvents;
use super::line::Line;
use crate::motion::playback::LoopMode;

/// An event that was passed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EventHit<'a> {
    /// The index of the event, in the order of [`ClipEvents::iter`].
    pub event: usize,
    /// The name of the event.
    pub name: &'a str,
    /// The index of its name in [`ClipEvents::names`], for comparing names quickly.
    pub name_id: u32,
    /// The clip's own time, in seconds.
    pub time_s: f64,
    /// The number of its cycle. Cycle 0 begins at the unwrapped time 0.
    pub pass: i64,
    /// The unwrapped time of the event, in seconds.
    pub unwrapped_s: f64,
    /// True if unwrapped time went backward over it.
    pub backward: bool,
}

/// The events of a step, in order.
///
/// The order is that in which they are passed. [`ClipEvents::passed`] makes the iterator.
///
/// Each event is computed when it is taken. `nth`, `skip`, `count` and `last` cost the same for any
/// number of events. Only code that takes a billion events waits for a billion.
#[derive(Debug, Clone)]
#[must_use = "events are delivered by iterating"]
pub struct Passed<'a> {
    events: &'a ClipEvents,
    line: Line<'a>,
    /// Numbers of the remaining points, `low..high`. Backward, they are taken from the end.
    low: i128,
    high: i128,
    backward: bool,
    left_out: u64,
}

#[doc(hidden)]
impl ClipEvents {
    /// The events that a step from one unwrapped time to another passes.
    ///
    /// The rules are those of
    /// [`AnimationEventKind::Clip`](crate::animator::AnimationEventKind::Clip). There are none if
    /// a time is not a number. The iterator is lazy: a step over a month costs only as much as the
    /// events that are taken from it. Times beyond 2⁴⁸ cycles are clamped to that. A clip without
    /// duration does not loop.
    pub fn passed(&self, from_s: f64, to_s: f64, loop_mode: LoopMode) -> Passed<'_> {
        Passed::new(self, from_s, to_s, loop_mode, false)
    }

    /// The same as [`Self::passed`] for the first step of a play.
    ///
    /// It includes the events at `from_s`.
    pub fn passed_from_start(&self, from_s: f64, to_s: f64, loop_mode: LoopMode) -> Passed<'_> {
        Passed::new(self, from_s, to_s, loop_mode, true)
    }

    /// The number of events of [`Self::passed`], in closed form. At most `u64::MAX`.
    #[must_use]
    pub fn count_passed(&self, from_s: f64, to_s: f64, loop_mode: LoopMode) -> u64 {
        self.passed(from_s, to_s, loop_mode).left()
    }
}

impl<'a> Passed<'a> {
    pub(super) fn new(
        events: &'a ClipEvents,
        from_s: f64,
        to_s: f64,
        loop_mode: LoopMode,
        with_start: bool,
    ) -> Self {
        let line = Line::new(events, loop_mode);
        let backward = to_s < from_s;
        let nowhere = to_s == from_s || from_s.is_nan() || to_s.is_nan();
        let (low, high) = if events.is_empty() || nowhere {
            (0, 0)
        } else if backward {
            let high = if with_start {
                line.last_from(from_s)
            } else {
                line.before(from_s, false)
            };
            (line.before(to_s, false), high)
        } else {
            let low = if with_start {
                line.first_from(from_s)
            } else {
                line.before(from_s, true)
            };
            (low, line.before(to_s, true))
        };
        Self {
            events,
            line,
            low,
            high: high.max(low),
            backward,
            left_out: 0,
        }
    }

    /// Keeps only the first `max` events.
    ///
    /// The others are counted as left out.
    pub fn limited(mut self, max: usize) -> Self {
        let left = self.high - self.low;
        let kept = left.min(max as i128);
        if self.backward {
            self.low = self.high - kept;
        } else {
            self.high = self.low + kept;
        }
        let out = u64::try_from(left - kept).unwrap_or(u64::MAX);
        self.left_out = self.left_out.saturating_add(out);
        self
    }

    /// The number of events of the step that the limit left out.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The number of events that are still to come. At most `u64::MAX`.
    #[must_use]
    pub fn left(&self) -> u64 {
        u64::try_from(self.high - self.low).unwrap_or(u64::MAX)
    }

    fn hit(&self, number: i128) -> EventHit<'a> {
        let point = self.line.point(number);
        let (name_id, time_s) = match self.events.events.get(point.event) {
            Some(event) => (event.name, event.time_s),
            None => (0, 0.0),
        };
        EventHit {
            event: point.event,
            name: self.events.name(name_id),
            name_id,
            time_s,
            pass: point.pass,
            unwrapped_s: point.unwrapped_s,
            backward: self.backward,
        }
    }
}

impl<'a> Iterator for Passed<'a> {
    type Item = EventHit<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        self.nth(0)
    }

    fn nth(&mut self, skipped: usize) -> Option<Self::Item> {
        let skipped = (skipped as i128).min(self.high - self.low);
        if self.backward {
            self.high -= skipped;
        } else {
            self.low += skipped;
        }
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
        Some(self.hit(number))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.high - self.low);
        (left.unwrap_or(usize::MAX), left.ok())
    }

    fn count(self) -> usize {
        self.size_hint().0
    }

    fn last(self) -> Option<Self::Item> {
        if self.low >= self.high {
            return None;
        }
        let number = if self.backward {
            self.low
        } else {
            self.high - 1
        };
        Some(self.hit(number))
    }
}

impl core::iter::FusedIterator for Passed<'_> {}
