//! The events of a clip.

use crate::error::{Error, Result, expect_in};
use std::sync::Arc;

/// The events of a clip: named times from 0 to its duration.
///
/// Several events may have the same time or name.
///
/// They are delivered by the rules of
/// [`AnimationEventKind::Clip`](crate::animator::AnimationEventKind::Clip).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClipEvents {
    pub(crate) duration_s: f64,
    /// The different names, in the order in which they first occurred.
    pub(crate) names: Arc<[Box<str>]>,
    /// Sorted by time. Events with the same time keep the order in which they were given.
    pub(crate) events: Vec<Event>,
    /// The number of events at time 0.
    pub(crate) at_start: usize,
    /// The number of events before the duration.
    pub(crate) before_end: usize,
}

/// One of a clip's events.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Event {
    pub(crate) time_s: f64,
    pub(crate) name: u32,
}

impl ClipEvents {
    /// Creates the events of a clip that lasts `duration_s`, in any order.
    ///
    /// A time that equals the duration when rounded to `f32`, the precision of clips, counts as the
    /// duration.
    ///
    /// # Errors
    /// - [`Error::Argument`] for a duration that is negative or not finite in `f32`.
    /// - [`Error::At`] with the index of the event and [`Error::Argument`], for a time that is not
    ///   finite or lies outside `0..=duration_s`.
    /// - [`Error::Capacity`] for more than 2³² − 1 events.
    pub fn new<N: AsRef<str>>(
        duration_s: f64,
        events: impl IntoIterator<Item = (N, f64)>,
    ) -> Result<Self> {
        expect_in("duration_s", duration_s, 0.0, f32::MAX)?;
        let (mut names, mut ids) = (Vec::<Box<str>>::new(), Vec::new());
        let mut known = std::collections::HashMap::new();
        for (index, (name, time_s)) in events.into_iter().enumerate() {
            if index >= u32::MAX as usize {
                return Err(Error::Capacity {
                    what: "events",
                    asked: index as u64 + 1,
                    cap: u32::MAX.into(),
                });
            }
            let text = name.as_ref();
            let name = match known.get(text) {
                Some(id) => *id,
                None => {
                    let id = names.len() as u32;
                    known.insert(Box::<str>::from(text), id);
                    names.push(text.into());
                    id
                }
            };
            ids.push((name, time_s));
        }
        Self::shared(duration_s, &names.into(), ids)
    }

    /// The same as [`Self::new`], with names that several clips share, and indices instead of
    /// names.
    ///
    /// # Errors
    /// The same as [`Self::new`].
    pub(crate) fn shared(
        duration_s: f64,
        names: &Arc<[Box<str>]>,
        events: Vec<(u32, f64)>,
    ) -> Result<Self> {
        expect_in("duration_s", duration_s, 0.0, f32::MAX)?;
        let mut named = Self {
            duration_s,
            names: Arc::clone(names),
            ..Self::default()
        };
        for (index, (name, time_s)) in events.into_iter().enumerate() {
            let ends = time_s as f32 == duration_s as f32;
            let time_s = if ends { duration_s } else { time_s };
            expect_in("time_s", time_s, 0.0, duration_s).map_err(|why| why.at("event", index))?;
            // Avoid negative zero, which would sort before zero.
            let time_s = time_s + 0.0;
            named.events.push(Event { time_s, name });
        }
        named.events.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
        named.before_end = named
            .events
            .partition_point(|event| event.time_s < duration_s);
        named.at_start = named.events.partition_point(|event| event.time_s <= 0.0);
        Ok(named)
    }

    /// The clip's duration in seconds.
    #[must_use]
    pub fn duration_s(&self) -> f64 {
        self.duration_s
    }

    /// The number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Returns true if there are no events.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The events in order of time, as name and time in seconds.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, f64)> {
        let events = self.events.iter();
        events.map(|event| (self.name(event.name), event.time_s))
    }

    /// The different names, in the order in which they first occurred.
    ///
    /// All clips of a character share one list of names, which `Id<EventDesc>` indexes.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    pub(crate) fn name(&self, id: u32) -> &str {
        self.names.get(id as usize).map_or("", |name| name)
    }
}
