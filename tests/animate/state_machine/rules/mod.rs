//! The rules one by one.
//!
//! - [`played`]: a small machine, and what it plays.
//! - [`transitions`]: which transition fires, and when.
//! - [`fades`]: interrupted fades, and states in sync.
//! - [`clips`]: blends, events and masks of what plays.

mod clips;
mod fades;
mod played;
mod transitions;
