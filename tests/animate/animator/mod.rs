//! The animator, compared with plain code, and invalid input.
//!
//! - [`character`]: actors of characters with masks, events and a state machine.
//! - [`world`]: the clips and blend spaces that the actors of the other tests play.
//! - [`exact`]: a reference actor in `f64`, written independently. [`exact_events`] and
//!   [`exact_pose`] are parts of it.
//! - [`script`]: random commands, for the animator and for the reference actor.
//! - [`agreement`]: both play the same.
//! - [`edges`]: events at the ends of clips, fades, pauses and clocks.
//! - [`blends`]: blend spaces without a state machine.
//! - [`inertialisation`]: inertialised transitions.
//! - [`machines`]: state machines as records.
//! - [`reach`]: inverse kinematics, and joints at any time.
//! - [`rest`]: actors that do not change cost nothing.
//! - [`records`]: the plain data that an actor plays, and its own time.
//! - [`replace`]: the character is replaced by another.
//! - [`replacing`]: the same with random operations, poses that the caller set, and restores.
//! - [`pictures`]: pictures between two updates, which change nothing.
//! - [`snapshot`]: save and restore.
//! - [`wake`]: the order in which actors wake.
//! - [`bits`]: changes that must not affect a palette.
//! - [`getters`]: everything that can be set can be read.
//! - [`hostile`]: invalid input.

mod agreement;
mod bits;
mod blends;
mod character;
mod edges;
mod exact;
mod exact_events;
mod exact_pose;
mod getters;
mod hostile;
mod inertialisation;
mod machines;
mod pictures;
mod reach;
mod records;
mod replace;
mod replacing;
mod rest;
mod script;
mod snapshot;
mod world;
