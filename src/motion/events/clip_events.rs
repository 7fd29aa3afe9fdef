//! The events of a clip.

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

/// One of a clip's events.
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
    ///
    /// # Errors
    /// - [`Error::Argument`](crate::Error::Argument) for a duration that is negative or not finite
    ///   in `f32`.
    /// - [`Error::At`](crate::Error::At) with the index of an event whose time is not in
    ///   `0..=duration_s`.
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

    /// The clip's duration in seconds.
    pub(crate) fn duration_s(&self) -> f64 {
        self.duration_s
    }

    /// The events in order of time.
    pub(crate) fn list(&self) -> &[Event] {
        &self.events
    }
}
