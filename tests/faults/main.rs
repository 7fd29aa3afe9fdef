//! Every object that is created is destroyed exactly once, and not too early.
//!
//! The tests cover failed calls, lost devices and surfaces, growth, removal, and the log entries
//! about forgotten objects. A driver between the crate and the real one counts live objects and can
//! make any call fail. It also simulates a window system.

#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "each would say that the test keeps its objects alive, and waits before it destroys \
     them"
)]

mod counting;
mod drawing;
mod driver;
mod ending;
mod interposed;
mod life;
mod objects;
mod screen;
#[path = "../support/mod.rs"]
mod support;
mod swapchains;

mod alignment;
mod barriers;
mod leaks;
mod lives;
mod pipelines;
mod presenting;
mod recording;
mod retirement;
mod timestamps;
mod unwinding;

use throng_reference as reference;
