//! Events: named times of a clip, each delivered exactly once per cycle.
//!
//! - [`ClipEvents`] is the list of events of a clip. `line` holds the events of all cycles, in
//!   order, with consecutive numbers.
//! - `passed` iterates over the events in a span of time.

mod clip_events;
mod line;
mod passed;

pub(crate) use clip_events::{ClipEvents, Event};
