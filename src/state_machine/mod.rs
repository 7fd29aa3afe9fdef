//! State machines: choose a character's clips from the game's parameters.
//!
//! ```text
//! once:         TOML ──from_toml──▶ StateMachineDesc ──import──▶ StateMachine
//!
//! every frame:  game: set_parameter · play ──▶ Animator ──update──▶ poses, events
//! ```
//!
//! - [`StateMachineDesc`] is plain data: parameters, masks, and layers of states and transitions.
//!   `StateMachineDesc::from_toml` (feature `toml`) reads it from TOML and reports errors with line
//!   numbers.
//! - [`StateMachine`] is the validated form. Any number of instances and threads can use it.
//! - The [`Animator`](crate::animator::Animator) runs it for each actor that it drives. A crowd
//!   does so for each instance.
//!
//! # Time
//! Events that depend on time alone happen at their exact time, not at a frame boundary. Inside one
//! update, exit times are met and fades end one after the other, across all layers together. The
//! same span of time therefore gives the same states at the same times, whether it is covered in
//! many steps or in one, up to rounding.
//!
//! Parameters change between updates. A change takes effect at the time of the previous update.
//! Conditions are tested when a parameter has changed and after each event. A parameter that moves
//! ([`Actor::set_parameter_over`](crate::animator::Actor::set_parameter_over)) changes at times of
//! its own.
//!
//! - A transition fires at most once at any one time, so a ring of transitions ends.
//! - An update handles at most 256 events and transitions per instance. Beyond that, the instance
//!   plays on without transitions to the end of the update. The next update handles the rest.
//! - If the clock goes back, no time passes and everything continues from the new time.
//! - If the time is not a number, or lies beyond 1e12 s, no time passes.
//! - A long step costs no more than a short one: cycles are not counted one by one.
//!
//! # Events
//! The animator tells when a state is entered, reaches its end, and is left:
//! [`Entered`](crate::animator::AnimationEventKind::Entered),
//! [`Finished`](crate::animator::AnimationEventKind::Finished) and
//! [`Left`](crate::animator::AnimationEventKind::Left), with the layer, the state, and the exact
//! time. [`Actor::set_events`](crate::animator::Actor::set_events) and `Spawn::events` switch them
//! off, and then nothing wakes an actor for them.
//!
//! This character dies: a clip plays once, and at its end the actor is removed. In a crowd, iterate
//! over `Crowd::events` and call `Crowd::despawn` instead.
//!
//! ```
//! # #[cfg(feature = "toml")] {
//! use throng::animator::{ActorId, AnimationEventKind, Animator};
//!
//! let text = r#"
//! [state_machine]
//! parameter = [{ name = "dead", kind = "trigger" }]
//!
//! [[state_machine.layer]]
//! name = "body"
//! entry = "stand"
//! state = [
//!     { name = "stand", motion = { clip = "Idle" } },
//!     { name = "die", motion = { clip = "Wave" }, loop_mode = "once" },
//! ]
//! transition = [{ from = "(any)", to = "die", when = ["dead"], fade_s = 0.15 }]
//! "#;
//! let character = throng::builtin::mannequin()?.character;
//! let mut animator = Animator::new(&character.with_animation_toml("guard.toml", text)?)?;
//! let guard = animator.add_with_state_machine()?;
//! animator.update(0.0)?;
//! animator.actor_mut(guard)?.set_parameter("dead", true)?;
//!
//! let die = animator.state_machine()?.state(0, "die")?;
//! for frame in 1..600 {
//!     animator.update(f64::from(frame) / 60.0)?;
//!     let events = animator.events().iter();
//!     let dead = events.filter(|event| {
//!         matches!(event.kind, AnimationEventKind::Finished { state: Some(state), .. }
//!             if (event.layer, state) == (0, die))
//!     });
//!     for id in dead.map(|event| event.id).collect::<Vec<ActorId>>() {
//!         animator.remove(id)?;
//!     }
//! }
//! assert!(animator.actor(guard).is_err());
//! # }
//! # Ok::<(), throng::Error>(())
//! ```
//!
//! # Fades
//! A transition that interrupts a fade starts from the weights reached so far, so nothing jumps. At
//! most [`StateMachine::MAX_FADING`] states fade out at once. When that limit is reached, further
//! fades wait until the current fade ends. Cuts do not wait.
//!
//! The fields of [`TransitionDesc`] document the rules for exit times, interruptions and
//! synchronised phases. They match Unity's animator controllers wherever Unity documents a rule.

mod advance;
mod build;
mod build_motion;
mod condition;
mod desc;
mod fire;
mod fits;
mod ground;
mod instance;
mod machine;
mod model;
mod pace;
mod text;
#[cfg(feature = "toml")]
mod toml;

pub use advance::LayerStatus;
pub(crate) use advance::{DrivenClip, Watch};
pub(crate) use build::build_mask;
pub use condition::{Condition, Test};
pub use desc::{
    BlendPointDesc, Interruption, LayerDesc, MaskBranchDesc, MaskDesc, MotionDesc, Origin,
    ParameterDesc, ParameterKind, StateDesc, StateMachineDesc, TransitionDesc,
};
pub(crate) use fire::Taken;
pub(crate) use ground::{check_strides, speed_limits};
pub(crate) use instance::StateMachineInstance;
pub use instance::Value;
pub use machine::StateMachine;
pub(crate) use machine::StateMachineClip;
pub(crate) use text::{list_element, part_of};
#[cfg(feature = "toml")]
pub(crate) use toml::StateMachineText;
