//! Loop modes, fades, blending, blend spaces, events and root motion.
//!
//! - `playback`: how time passes in a clip: loop modes, fades, synchronised clips.
//! - `blend`: the rule by which samples of clips are blended.
//! - `blend_space`: weights of clips from a parameter.
//! - `events`: named times of clips.
//! - `ground_speed`: the playback speed at which feet do not slide.
//! - `inertialisation`: transitions that evaluate only the new motion.
//! - `root_motion`: movements over the ground, moved from clips to instances.
//!
//! Everything here is independent of the number of instances.
//! [`Animator`](crate::animator::Animator) uses it for many instances of a character.

mod blend;
mod blend_space;
mod events;
mod ground_speed;
mod inertialisation;
mod playback;
mod root_motion;

pub(crate) use blend::{ClipSample, FULL_WEIGHT, Share, blend_joint, blend_weights};
pub use blend_space::BlendSpace;
pub(crate) use blend_space::{BlendLine, BlendPlane, BlendShape};
pub(crate) use events::{ClipEvents, Event};
pub(crate) use ground_speed::{SPEED_LIMITS, Stride, playback_speed};
pub(crate) use inertialisation::Inertialisation;
pub use playback::{Ease, LoopMode};
pub(crate) use playback::{MAX_FADE_S, Ramp, SpeedRamp, cycle_duration_s};
pub use root_motion::{RootMotion, RootTransform};
pub(crate) use root_motion::{RootMotionBudget, RootMotionOptions, extract};
