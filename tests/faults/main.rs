//! What is made is destroyed, once and not too early: through failed calls, growth, removal, and in
//! the log where it is forgotten. A device stands between the crate and the driver that counts what
//! is alive and lets any call fail.

#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "every block would say that the test keeps what it made alive, and waits before it destroys it"
)]

mod counting;
mod drawing;
#[path = "../reference/rng.rs"]
#[expect(dead_code, unreachable_pub, reason = "shared with other tests")]
mod rng;
#[path = "../support/mod.rs"]
mod support;

mod leaks;
mod recording;
mod retirement;
mod unwinding;
