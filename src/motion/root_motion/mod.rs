//! Root motion: a clip's movement over the ground, moved from the clip to the instance.
//!
//! - `extract` splits a clip once, into the clip that stays in place and the motion.
//!   `chain` evaluates the joint and its ancestors, `extract` chooses the joint and the options,
//!   `exact` rewrites keys, and `resample` makes new ones.
//! - [`RootDelta`] is a part of the motion. [`RootMotion::delta`] computes it for any span of time.
//! - [`RootPlace`] sums up such parts in `f64`.

mod budget;
mod chain;
mod curve;
mod delta;
mod exact;
mod extract;
mod follow;
mod motion;
mod options;
mod place;
mod resample;
mod save;

pub use budget::RootMotionBudget;
pub use delta::RootDelta;
pub(crate) use extract::extract;
pub use motion::RootMotion;
pub use options::{RootMotionOptions, RootMotionReport, RootReference};
pub use place::RootPlace;
