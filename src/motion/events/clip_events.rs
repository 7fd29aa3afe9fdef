//! Events: named times of a clip, each delivered exactly once a pass.

use super::passed::Passed;
use crate::error::{ArgumentFault, Error, Result};
use crate::motion::loop_mode::LoopMode;
use std::sync::Arc;

/// The events of a clip: named times from 0 to its duration. Several may share a time or a name.
///
/// # When an event is delivered
/// Over unwrapped clip time (see [`LoopMode`]), at the points `k·D + t` for an event at `t` of a
/// clip of duration `D`:
///
/// - *Forward*, a step from `a` to `b` delivers what lies in `(a, b]`, in ascending order; *backward*,
///   what lies in `[b, a)`, in descending order. So steps that follow each other deliver each point
///   once, whatever their lengths; a step of no length delivers nothing; and turning round on a
///   point does not deliver it again.
/// - *A play's first step* has its start in it too: an event at 0 is delivered when the clip starts
///   at 0.
/// - [`LoopMode::Loop`]: 0 and the duration are two events of a clip that lie on one point, the
///   seam. Who reaches it is given both, forward those at the duration (of the pass that ends)
///   before those at 0 (of the pass that begins), backward the other way round. A first step from
///   the seam is given only those of the pass that it goes into.
/// - [`LoopMode::Once`]: there is one pass, and time runs on outside of it. What lies on 0 or the
///   duration is delivered when time passes it, and not again while the pose is held.
/// - [`LoopMode::PingPong`]: odd passes are run through backward. At a turning point an event is
///   one point, delivered once; it counts to the pass that begins there.
///
/// The points are computed in `f64` and compared as they are, always in the same way: nothing is
/// lost or doubled to rounding.
///
/// ```
/// use throng::motion::{ClipEvents, EventCursor, LoopMode};
///
/// let steps = ClipEvents::new(1.0, [("left foot", 0.0), ("right foot", 0.5)])?;
/// let mut cursor = EventCursor::new(0.0);
/// let names: Vec<_> = cursor.advance(&steps, 1.25, LoopMode::Loop, 100).map(|hit| hit.name).collect();
/// assert_eq!(names, ["left foot", "right foot", "left foot"]);
/// // A month in one step: as many as are wanted, and how many were left out.
/// let month = cursor.advance(&steps, 2_592_001.25, LoopMode::Loop, 10);
/// assert_eq!(month.left_out(), 2 * 2_592_000 - 10);
/// assert_eq!(month.count(), 10);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClipEvents {
    pub(crate) duration_s: f64,
    /// Each once, in the order in which they were given.
    pub(crate) names: Arc<[Box<str>]>,
    /// Sorted by time; those of one time in the order in which they were given.
    pub(crate) events: Vec<Event>,
    /// How many lie on 0.
    pub(crate) at_start: usize,
    /// How many lie before the duration.
    pub(crate) before_end: usize,
}

/// One of a clip's events.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Event {
    pub(crate) time_s: f64,
    pub(crate) name: u32,
}

impl ClipEvents {
    /// The events of a clip that lasts `duration_s`, in any order. A time that is the duration when
    /// rounded to `f32`, as clips have it, counts as the duration.
    ///
    /// # Errors
    /// [`Error::Argument`] for a duration that is negative or not finite in `f32`; [`Error::At`],
    /// naming the event, with [`Error::Argument`] for a time that is not finite or lies outside
    /// `0..=duration_s`; [`Error::Capacity`] for more than 2³² − 1 events.
    pub fn new<N: AsRef<str>>(
        duration_s: f64,
        events: impl IntoIterator<Item = (N, f64)>,
    ) -> Result<Self> {
        in_range("duration_s", duration_s, f32::MAX.into())?;
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

    /// [`Self::new`] with names that several clips share, and their numbers instead of names.
    ///
    /// # Errors
    /// As there.
    pub(crate) fn shared(
        duration_s: f64,
        names: &Arc<[Box<str>]>,
        events: Vec<(u32, f64)>,
    ) -> Result<Self> {
        in_range("duration_s", duration_s, f32::MAX.into())?;
        let mut named = Self {
            duration_s,
            names: Arc::clone(names),
            ..Self::default()
        };
        for (index, (name, time_s)) in events.into_iter().enumerate() {
            let ends = time_s as f32 == duration_s as f32;
            let time_s = if ends { duration_s } else { time_s };
            in_range("time_s", time_s, duration_s).map_err(|why| Error::At {
                what: "event",
                index: index as u64,
                why: why.into(),
            })?;
            // No negative zero: it would sort before zero.
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

    /// How many events there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The events in the order of their times: name and time in seconds.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, f64)> {
        let events = self.events.iter();
        events.map(|event| (self.name(event.name), event.time_s))
    }

    /// The different names, in the order in which they were given first. [`EventHit::name_id`](super::EventHit::name_id)
    /// counts in them. Events of a character's clips have the names of all of them in common, which
    /// [`EventId`](crate::ids::EventId)s count.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    pub(crate) fn name(&self, id: u32) -> &str {
        self.names.get(id as usize).map_or("", |name| name)
    }

    /// The events that a step from one unwrapped time to another passes, as
    /// [above](Self#when-an-event-is-delivered); none where a time is not a number. Lazily: a step
    /// over a month of passes costs what is taken of it. Times beyond 2⁴⁸ passes count as that; a
    /// clip without duration does not loop.
    pub fn passed(&self, from_s: f64, to_s: f64, loop_mode: LoopMode) -> Passed<'_> {
        Passed::new(self, from_s, to_s, loop_mode, false)
    }

    /// The same for a play's first step: with what lies on `from_s`.
    pub fn passed_from_start(&self, from_s: f64, to_s: f64, loop_mode: LoopMode) -> Passed<'_> {
        Passed::new(self, from_s, to_s, loop_mode, true)
    }

    /// How many events [`Self::passed`] would deliver, in closed form; at most `u64::MAX`.
    #[must_use]
    pub fn count_passed(&self, from_s: f64, to_s: f64, loop_mode: LoopMode) -> u64 {
        self.passed(from_s, to_s, loop_mode).left()
    }
}

pub(crate) fn in_range(what: &'static str, value: f64, max: f64) -> Result<()> {
    let why = if !value.is_finite() {
        ArgumentFault::NotFinite(value)
    } else if !(0.0..=max).contains(&value) {
        let min = 0.0;
        ArgumentFault::OutOfRange { value, min, max }
    } else {
        return Ok(());
    };
    Err(Error::Argument { what, why })
}
