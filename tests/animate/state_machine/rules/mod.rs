//! The rules one by one.
//!
//! - [`played`]: a small machine, and what it plays.
//! - [`transitions`]: which transition fires, and when.
//! - [`fades`]: interrupted fades, and states in sync.
//! - [`clips`]: blends, events and masks of what plays.
//! - [`ends`]: the end of a state, and the order of events.

mod clips;
mod ends;
mod fades;
mod played;
mod transitions;
