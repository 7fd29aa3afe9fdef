//! The animate stage: from clips and times to local poses and palettes of instances.
//!
//! [`BatchPoser`] evaluates groups of instances with SIMD. A [`PlanSource`] says which
//! [`ClipSample`](crate::motion::ClipSample)s each instance plays.
//!
//! - `group`: the samples of a group as the input of the kernel, and the addresses of its output.
//!   `rig`: the character as the kernel needs it. `poser`: both together, with working memory.
//! - `kernel`: the loop over blocks of joints, compiled once per vector unit.
//! - `fetch`, `sample`, `layers`, `quaternion`: read and blend keys, with joints in the lanes.
//! - `compose`, `palette_lanes`, `write`: after a transpose, with instances in the lanes, turn
//!   local poses into model poses and palettes.
//! - `few`: the same for one or two instances. `sample_clip`: local poses of one clip or joint.
//! - `run`: the loop over groups, on one thread or on all. `finish`: palettes of model poses.

mod compose;
mod fetch;
mod few;
mod finish;
mod group;
mod kernel;
mod layers;
mod palette_lanes;
mod poser;
mod quaternion;
mod rig;
mod run;
mod sample;
mod sample_clip;
mod write;

pub(crate) use group::{PlanSource, Planner, Product, Starts};
pub(crate) use poser::BatchPoser;
