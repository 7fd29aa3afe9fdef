//! Where a play is, and whether what lies there has been delivered.

use super::clip_events::ClipEvents;
use super::passed::Passed;
use crate::motion::loop_mode::LoopMode;

/// A play's place in unwrapped clip time (see [`LoopMode`]), for delivering its events step by
/// step.
///
/// ```
/// use throng::motion::{ClipEvents, EventCursor, LoopMode};
///
/// let events = ClipEvents::new(2.0, [("start", 0.0), ("hit", 1.0)])?;
/// let mut cursor = EventCursor::new(0.0);
/// assert_eq!(cursor.advance(&events, 0.5, LoopMode::Once, 16).count(), 1); // "start"
/// cursor.seek(1.5); // past "hit", silently
/// assert_eq!(cursor.advance(&events, 9.0, LoopMode::Once, 16).count(), 0);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct EventCursor {
    unwrapped_s: f64,
    started: bool,
}

impl EventCursor {
    /// At an unwrapped time, before its first step: what lies there is still to be delivered. Not a
    /// number counts as 0.
    #[must_use]
    pub fn new(unwrapped_s: f64) -> Self {
        let mut cursor = Self::default();
        cursor.seek(unwrapped_s);
        cursor
    }

    /// Where it is, in seconds of unwrapped time.
    #[must_use]
    pub fn unwrapped_s(&self) -> f64 {
        self.unwrapped_s
    }

    /// Goes on to an unwrapped time, either way, and delivers what lies between, at most `max`
    /// events: those that are passed first. [`Passed::left_out`] says how many there were beyond;
    /// they don't come again. What is not iterated does not either.
    ///
    /// The first step that has a length also delivers what lies on its start. A step without
    /// length, and one to what is not a number, change nothing.
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

    /// Jumps to an unwrapped time and delivers nothing. The next step starts there as a play does:
    /// what lies on that very time is delivered with it. Not a number counts as 0.
    pub fn seek(&mut self, to_s: f64) {
        let unwrapped_s = if to_s.is_nan() { 0.0 } else { to_s };
        *self = Self {
            unwrapped_s,
            started: false,
        };
    }

    /// Jumps to an unwrapped time and delivers what lies on the way, as [`Self::advance`] does.
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
