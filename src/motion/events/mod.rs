//! Events: named times of a clip, each delivered exactly once a pass.
//!
//! - [`ClipEvents`] is the list of a clip; `line`: the events of all passes, in order, numbered
//!   through;
//! - [`Passed`] goes through those of a span of time; [`EventCursor`] remembers where a play is.

mod clip_events;
mod cursor;
mod line;
mod passed;

pub use clip_events::ClipEvents;
pub use cursor::EventCursor;
pub use passed::{EventHit, Passed};
