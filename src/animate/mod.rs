//! The animate stage: from clips and times to local poses, model poses and palettes of instances.
//!
//! [`BatchPoser`] evaluates groups of instances with SIMD. A
//! [`SampleList`](crate::motion::SampleList) has one sample for each clip that an instance plays.
//!
//! - `plan`: converts sample lists to the input of the kernel. `rig`: the character as the kernel
//!   needs it.
//! - `kernel`: the loop over blocks of joints, compiled once per vector unit. `group` and
//!   `scratch`: its input and its working memory.
//! - `fetch`, `sample`, `levels`, `quaternion`: read and blend keys, with joints in the lanes.
//! - `compose`, `palette_lanes`, `write`: after a transpose, with instances in the lanes, turn
//!   local poses into model poses and palettes.
//! - `run`: the loop over groups, on one thread or on all. `output`: the memory that it writes to.

mod compose;
mod fetch;
mod finish;
mod group;
mod kernel;
mod levels;
mod output;
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

pub(crate) use plan::{PlanSource, Planner};

// For the tests and benches of this crate: not part of the API.
#[doc(hidden)]
pub use group::Product;
#[doc(hidden)]
pub use output::Starts;
#[doc(hidden)]
pub use poser::BatchPoser;
