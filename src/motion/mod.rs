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

pub use blend::{BLEND_THRESHOLD, PoseLayer, blend};
pub(crate) use blend::{JointPart, blend_joint};
pub use blend_space::{
    BlendShape, BlendSpace, BlendSpace1, BlendSpace2, GradientBands, MAX_BLEND_POINTS,
};
pub use blend_weights::{WeightSample, blend_weights};
pub use events::{ClipEvents, EventCursor, EventHit, Passed};
pub(crate) use inertia::decayed_by;
pub use inertia::{Inertia, Moving};
pub use loop_mode::LoopMode;
pub use ramp::Ease;
pub(crate) use ramp::{Ramp, SpeedRamp};
pub use root_motion::{
    RootDelta, RootMotion, RootMotionOptions, RootMotionReport, RootPlace, RootReference,
};
pub(crate) use root_motion::{RootMotionBudget, extract};
pub use sample_list::{ClipSample, SampleList};
pub use sync::cycle_duration_s;
