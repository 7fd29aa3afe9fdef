//! Root motion: a clip's movement over the ground, moved from the clip to the instance.
//!
//! - `extract` splits a clip once, into the clip that stays in place and the motion.
//!   `chain` evaluates the joint and its ancestors, `extract` chooses the joint and the options,
//!   `exact` rewrites keys, and `resample` makes new ones.
//! - [`RootMotion::delta`] computes the movement in any span of time, a [`RootTransform`].
//! - A position and heading in the world is a [`RootTransform`] too. It sums up movements in `f64`.

mod budget;
mod chain;
mod curve;
mod exact;
mod extract;
mod follow;
mod motion;
mod options;
mod resample;
mod root_transform;
mod save;

pub(crate) use budget::RootMotionBudget;
pub(crate) use extract::extract;
pub use motion::RootMotion;
pub(crate) use options::RootMotionOptions;
pub use root_transform::RootTransform;
