//! Root motion: the way that a clip's character goes, taken out of the clip and given to the
//! instance.
//!
//! - [`RootMotion::extract`] splits a clip once: into the clip that stays in place and the motion;
//!   `chain` evaluates the joint and what is above it, `extract` chooses the way, `exact` rewrites
//!   keys, `resample` makes new ones;
//! - [`RootDelta`] is a piece of the motion; [`RootMotion::delta`] has it over any span of time;
//! - [`RootPlace`] adds pieces up in `f64`.

mod chain;
mod curve;
mod delta;
mod exact;
mod extract;
mod follow;
mod motion;
mod place;
mod resample;
mod save;

pub use delta::RootDelta;
pub(crate) use extract::{RootMotionBudget, extract};
pub use extract::{RootMotionOptions, RootMotionReport, RootReference};
pub use motion::RootMotion;
pub use place::RootPlace;
