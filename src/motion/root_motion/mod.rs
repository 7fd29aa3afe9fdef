//! Root motion: a clip's movement over the ground, moved from the clip to the instance.
//!
//! - `extract` splits a clip once, into the clip that stays in place and the motion.
//!   `chain` evaluates the joint and its ancestors, `extract` chooses the joint and the options
//!   and rewrites keys, and `resample` makes new ones.
//! - [`RootMotion::delta`] computes the movement in any span of time, a [`RootTransform`].
//! - A position and heading in the world is a [`RootTransform`] too. It sums up movements in `f64`.

mod chain;
mod extract;
mod follow;
mod motion;
mod resample;
mod root_transform;

pub(crate) use extract::extract;
pub(crate) use follow::{RootMotionBudget, RootMotionOptions};
pub use motion::RootMotion;
pub use root_transform::RootTransform;
