//! State machines: which clips a character plays, from what the game says about it.
//!
//! ```text
//! StateMachineText ──parse──▶ StateMachineDesc ──StateMachine::new──▶ StateMachine                       once
//!                                                         │
//! game: set_float · set_trigger ──▶ StateMachineInstance ──update──▶ play ──▶ SampleList       every frame
//!                                                    └──▶ StateMachineLog: states entered, clip time passed
//! ```
//!
//! - [`StateMachineDesc`] is plain data: parameters, masks, and layers of states and transitions;
//!   `StateMachineText` reads it from TOML (feature `toml`), with lines for errors.
//! - [`StateMachine`] is what was proven of it, for any number of instances and threads.
//! - [`StateMachineInstance`] is one instance, and a saved game. The
//!   [`Animator`](crate::animator::Animator) has one for each actor that a state machine drives.
//!
//! # Time
//! What depends on time alone happens at its own time and not at a frame's: exit times are met and
//! fades end inside an update, one after the other, on all layers together. So the same time in
//! many steps or in one gives the same states at the same times, but for rounding. Parameters
//! change between updates, and count from the time of the update before; conditions are looked at
//! when one changed, and after each event.
//!
//! - At one time a transition fires once: transitions that lead in a ring end.
//! - An update handles 256 events and transitions of an instance. What is left plays on without
//!   transitions to the end of the update, and is looked at in the next.
//! - A clock that goes back: no time passes, and all goes on from the new time. To go back in what
//!   happened, keep a clone of the state.
//! - A time that is not a number, or beyond 1e12 s: no time passes.
//! - A time far ahead costs no more than a near one: loops are not counted one by one.
//!
//! # Fades
//! A transition that interrupts a fade starts from the weights reached: nothing jumps. At most
//! [`MAX_FADING`] states fade out at once; while there are that many, further fades wait for the
//! end of the one under way (cuts do not).
//!
//! The rules of exit times, interruptions and steps in sync are at the fields of
//! [`TransitionDesc`]. They are those of Unity's animator controllers where these say something.

mod advance;
mod build;
mod build_motion;
mod condition;
mod desc;
mod desc_transition;
mod drive;
mod fault;
mod fire;
mod fits;
#[cfg(feature = "toml")]
mod lines;
mod log;
mod machine;
mod model;
mod names;
mod pace;
#[cfg(feature = "serde")]
mod parameter_text;
mod parameters;
mod play;
mod save;
mod state;
#[cfg(feature = "toml")]
#[cfg_attr(docsrs, doc(cfg(feature = "toml")))]
mod text;
mod update;

pub(crate) use build::build_mask;
pub use condition::{Condition, ConditionError, Test};
pub use desc::{
    LayerDesc, MaskDesc, MaskPartDesc, MotionDesc, ParameterDesc, ParameterKind, Point1Desc,
    Point2Desc, StateDesc, StateMachineDesc,
};
pub use desc_transition::{Interruption, Origin, Sync, TransitionDesc};
pub(crate) use drive::{DrivenClip, Watch};
pub(crate) use fire::Taken;
#[cfg(feature = "toml")]
pub(crate) use lines::Lines;
pub use log::{ClipCycle, StateMachineEvent, StateMachineEventKind, StateMachineLog};
pub use machine::{
    MAX_CONDITIONS, MAX_FADE_S, MAX_LAYERS, MAX_MASKS, MAX_PARAMETERS, MAX_STATES, MAX_TIME_S,
    MAX_TRANSITIONS, StateMachine, StateMachineClip,
};
pub use play::LayerStatus;
pub use state::{MAX_FADING, StateMachineInstance, Value};
#[cfg(feature = "toml")]
pub use text::{MAX_TEXT_BYTES, StateMachineText};
