//! The animate stage: from clips and times to local poses and palettes of instances.
//!
//! [`BatchPoser`] evaluates groups of instances with SIMD. A [`PlanSource`] says which
//! [`ClipSample`](crate::motion::ClipSample)s each instance plays.
//!
//! - `plan`: converts samples to the input of the kernel. `rig`: the character as the kernel needs
//!   it.
//! - `kernel`: the loop over blocks of joints, compiled once per vector unit. `group` and
//!   `scratch`: its input and output, and its working memory.
//! - `fetch`, `sample`, `layers`, `quaternion`: read and blend keys, with joints in the lanes.
//! - `compose`, `palette_lanes`, `write`: after a transpose, with instances in the lanes, turn
//!   local poses into model poses and palettes.
//! - `run`: the loop over groups, on one thread or on all. `finish`: palettes of model poses.

mod compose;
mod fetch;
mod finish;
mod group;
mod kernel;
mod layers;
mod palette_lanes;
mod plan;
mod poser;
mod quaternion;
mod rig;
mod run;
mod sample;
mod scratch;
mod single;
mod write;

pub(crate) use group::{Product, Starts};
pub(crate) use plan::{PlanSource, Planner};
pub(crate) use poser::BatchPoser;
