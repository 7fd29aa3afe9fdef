//! Loop modes, fades, blending, blend spaces, events and root motion.
//!
//! Everything here is independent of the number of instances.
//! [`Animator`](crate::animator::Animator) uses it for many instances of a character.

mod blend;
mod blend_space;
mod blend_weights;
mod events;
mod inertia;
mod loop_mode;
mod ramp;
mod root_motion;
mod sample_list;
mod sync;

pub(crate) use blend::{JointPart, blend_joint};
pub use blend_space::BlendSpace;
pub(crate) use inertia::decayed_by;
pub use loop_mode::LoopMode;
pub use ramp::Ease;
pub(crate) use ramp::{Ramp, SpeedRamp};
pub(crate) use root_motion::extract;
pub use root_motion::{RootMotion, RootTransform};

// For the tests and benches of this crate: not part of the API.
#[doc(hidden)]
pub use blend::{BLEND_THRESHOLD, PoseLayer, blend};
#[doc(hidden)]
pub use blend_space::{BlendShape, BlendSpace1, BlendSpace2, GradientBands};
#[doc(hidden)]
pub use blend_weights::{WeightSample, blend_weights};
#[doc(hidden)]
pub use events::{ClipEvents, EventCursor, EventHit, Passed};
#[doc(hidden)]
pub use inertia::{Inertia, Moving};
#[doc(hidden)]
pub use root_motion::{RootMotionBudget, RootMotionOptions, RootMotionReport, RootReference};
#[doc(hidden)]
pub use sample_list::{ClipSample, SampleList};
#[doc(hidden)]
pub use sync::cycle_duration_s;
