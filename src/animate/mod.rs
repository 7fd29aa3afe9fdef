//! The animate stage: clips at times → local poses, model poses and palettes of many instances.
//!
//! [`BatchPoser`] evaluates groups of instances with SIMD, one [`SampleList`](crate::motion::SampleList)
//! entry per clip that an instance plays.
//!
//! - `plan`: from sample lists to what the kernel reads; `rig`: the character as the kernel needs it;
//! - `kernel`: the loop over blocks of joints, one instance of it per vector unit;
//! - `fetch`, `sample`, `levels`: keys are read and blended with joints in the lanes;
//! - `compose`, `palette_lanes`, `write`: after a transpose, instances are in the lanes: local poses
//!   become model poses and palettes;
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
