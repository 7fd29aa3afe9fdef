//! The animate stage: from clips and times to local poses, model poses and palettes of instances.
//!
//! [`BatchPoser`] evaluates groups of instances with SIMD. A
//! [`SampleList`](crate::motion::SampleList) has one sample for each clip that an instance plays.
//!
//! - `plan`: converts sample lists to the input of the kernel. `rig`: the character as the kernel
//!   needs it.
//! - `kernel`: the loop over blocks of joints, compiled once per vector unit.
//! - `fetch`, `sample`, `levels`: read and blend keys, with joints in the lanes.
//! - `compose`, `palette_lanes`, `write`: after a transpose, with instances in the lanes, turn
//!   local poses into model poses and palettes.
//! - `run`: the loop over groups, on one thread or on all.

mod compose;
mod fetch;
mod finish;
mod kernel;
mod levels;
mod palette_lanes;
mod plan;
mod poser;
mod rig;
mod run;
mod sample;
#[cfg(test)]
mod scattered;
mod single;
mod write;

pub(crate) use kernel::Product;
pub(crate) use plan::{PlanSource, Planner};
pub use poser::BatchPoser;
pub(crate) use run::Starts;
