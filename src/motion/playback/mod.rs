//! Playback: how time passes in a clip, how fades go on, and the shared phase of clips.

mod loop_mode;
mod ramp;
mod sync;

pub use loop_mode::LoopMode;
pub(super) use loop_mode::{fold, has_passes, within};
pub use ramp::Ease;
pub(crate) use ramp::{MAX_FADE_S, Ramp, SpeedRamp};
pub(crate) use sync::cycle_duration_s;
