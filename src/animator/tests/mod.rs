//! Tests that compare the animator with plain code, and tests of invalid input.
//!
//! - [`world`]: the clips and blend spaces that the actors of the tests play.
//! - [`exact`]: a reference actor in `f64`, written independently. [`exact_events`] and
//!   [`exact_pose`] are parts of it.
//! - [`script`]: random commands, for the animator and for the reference actor.
//! - [`agreement`]: both play the same.
//! - [`edges`]: events at the ends of clips, fades, pauses and clocks.
//! - [`blends`]: blend spaces without a state machine.
//! - [`inertia`]: inertialised transitions.
//! - [`machines`]: state machines as records.
//! - [`reach`]: inverse kinematics, and joints at any time.
//! - [`rest`]: actors that do not change cost nothing.
//! - [`bits`]: changes that must not affect a palette.
//! - [`hostile`]: invalid input.

mod agreement;
mod bits;
mod blends;
mod edges;
mod exact;
mod exact_events;
mod exact_pose;
mod hostile;
mod inertia;
mod machines;
#[path = "../../../tests/animate/state_machine/made.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod made;
mod reach;
mod rest;
mod script;
mod world;
