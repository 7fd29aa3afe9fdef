//! Loop modes, fades, blending, blend spaces, events and root motion.
//!
//! Everything here is independent of the number of instances.
//! [`Animator`](crate::animator::Animator) uses it for many instances of a character.

mod blend_joint;
mod blend_space;
mod blend_weights;
mod clip_sample;
mod events;
mod inertia;
mod loop_mode;
mod ramp;
mod root_motion;
mod sync;

pub(crate) use blend_joint::{Share, blend_joint};
pub use blend_space::BlendSpace;
pub(crate) use blend_weights::blend_weights;
pub(crate) use clip_sample::{ClipSample, FULL_WEIGHT};
pub(crate) use inertia::decayed_by;
pub use loop_mode::LoopMode;
pub use ramp::Ease;
pub(crate) use ramp::{Ramp, SpeedRamp};
pub(crate) use root_motion::extract;
pub use root_motion::{RootMotion, RootTransform};
pub(crate) use sync::cycle_duration_s;

// For the tests and benches of this crate: not part of the API.
#[doc(hidden)]
pub use blend_space::{BlendShape, BlendSpace1, BlendSpace2};
#[doc(hidden)]
pub use events::{ClipEvents, EventHit, Passed};
#[doc(hidden)]
pub use inertia::{Inertia, Moving};
#[doc(hidden)]
pub use root_motion::{RootMotionBudget, RootMotionOptions, RootMotionReport, RootReference};
