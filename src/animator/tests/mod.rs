//! The animator against plain code, and against bad luck.
//!
//! - [`world`]: what the actors of the tests play;
//! - [`exact`]: one actor in `f64`, written anew: [`exact_events`] and [`exact_pose`] are parts of
//!   it;
//! - [`script`]: random commands, for the animator and for that actor;
//! - [`agreement`]: both play the same; [`edges`]: events at the ends of things;
//! - [`blends`]: blend spaces without a state machine;
//! - [`inertia`]: inertialised transitions;
//! - [`machines`]: state machines as records; [`reach`]: inverse kinematics and joints at any time;
//! - [`rest`]: what costs nothing; [`bits`]: what changes no bit; [`hostile`]: input that makes no
//!   sense.

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
