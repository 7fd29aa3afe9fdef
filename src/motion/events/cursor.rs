//! A cursor that delivers the events of a play step by step.

use super::clip_events::ClipEvents;
use super::passed::Passed;
use crate::motion::loop_mode::LoopMode;

/// The position of a play in unwrapped clip time (see [`LoopMode`]).
///
/// It delivers the play's events step by step.
///
/// ```
/// use throng::motion::{ClipEvents, EventCursor, LoopMode};
///
/// let events = ClipEvents::new(2.0, [("start", 0.0), ("hit", 1.0)])?;
/// let mut cursor = EventCursor::new(0.0);
/// assert_eq!(cursor.advance(&events, 0.5, LoopMode::Once, 16).count(), 1); // "start"
/// cursor.seek(1.5); // past "hit", silently
/// assert_eq!(cursor.advance(&events, 9.0, LoopMode::Once, 16).count(), 0);
/// // A month in one step: a limited number of events, and the number that was left out.
/// let steps = ClipEvents::new(1.0, [("left foot", 0.0), ("right foot", 0.5)])?;
/// let mut cursor = EventCursor::new(1.25);
/// let month = cursor.advance(&steps, 2_592_001.25, LoopMode::Loop, 10);
/// assert_eq!(month.left_out(), 2 * 2_592_000 - 10);
/// assert_eq!(month.count(), 10);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct EventCursor {
    unwrapped_s: f64,
    started: bool,
}

impl EventCursor {
    /// Creates a cursor at an unwrapped time, before its first step.
    ///
    /// Events at that time are still to be delivered. NaN counts as 0.
    #[must_use]
    pub fn new(unwrapped_s: f64) -> Self {
        let mut cursor = Self::default();
        cursor.seek(unwrapped_s);
        cursor
    }

    /// The current unwrapped time, in seconds.
    #[must_use]
    pub fn unwrapped_s(&self) -> f64 {
        self.unwrapped_s
    }

    /// Moves to an unwrapped time and delivers the events between.
    ///
    /// The step may go in either direction. It delivers at most `max` events: those that are passed
    /// first. [`Passed::left_out`] is the number of the others, which are not delivered later.
    /// Events that the caller does not iterate over are not delivered later either.
    ///
    /// The first step that has a length also delivers the events at its start. A step of length 0,
    /// or to a time that is not a number, changes nothing.
    pub fn advance<'a>(
        &mut self,
        events: &'a ClipEvents,
        to_s: f64,
        loop_mode: LoopMode,
        max: usize,
    ) -> Passed<'a> {
        let from_s = self.unwrapped_s;
        let passed = Passed::new(events, from_s, to_s, loop_mode, !self.started);
        if !to_s.is_nan() && to_s != from_s {
            *self = Self {
                unwrapped_s: to_s,
                started: true,
            };
        }
        passed.limited(max)
    }

    /// Jumps to an unwrapped time without delivering anything.
    ///
    /// The next step starts there as a play does: it delivers the events at exactly that time. NaN
    /// counts as 0.
    pub fn seek(&mut self, to_s: f64) {
        let unwrapped_s = if to_s.is_nan() { 0.0 } else { to_s };
        *self = Self {
            unwrapped_s,
            started: false,
        };
    }

    /// Jumps to an unwrapped time and delivers the events between.
    ///
    /// It does the same as [`Self::advance`].
    pub fn seek_delivering<'a>(
        &mut self,
        events: &'a ClipEvents,
        to_s: f64,
        loop_mode: LoopMode,
        max: usize,
    ) -> Passed<'a> {
        self.advance(events, to_s, loop_mode, max)
    }
}
