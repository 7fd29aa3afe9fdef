//! Animates many instances of one character, without Vulkan.
//!
//! An [`Animator`] owns the *actors* of a character: the clips, fades, events and inverse
//! kinematics targets of each instance. Use it in three steps:
//!
//! 1. Tell it what changes: play, stop, seek, set a target.
//! 2. Call [`Animator::update`], which takes all actors to the present time and collects the events
//!    that happened.
//! 3. Read the poses, in any form.
//!
//! ```
//! use throng::animator::{Animator, Play};
//! use throng::palette::{Mat3x4, WriteOnly};
//!
//! let character = throng::builtin::mannequin()?;
//! let mut animator = Animator::new(&character)?;
//! let guards = [0.0, 0.4].map(|offset_s| animator.add(Play::new("Walk").offset_s(offset_s)));
//! let guards = guards.into_iter().collect::<throng::Result<Vec<_>>>()?;
//!
//! // The first guard stops within a quarter of a second, and waves.
//! animator.play(guards[0], Play::new("Idle").fade_s(0.25))?;
//! animator.play(guards[0], Play::new("Wave").layer(1).once().fade_s(0.2))?;
//!
//! // Each frame:
//! animator.update(1.0 / 60.0)?;
//! let mut palettes = vec![Mat3x4::IDENTITY; guards.len() * character.palette().len()];
//! animator.palettes(&guards, WriteOnly::over(&mut palettes))?;
//! # Ok::<(), throng::Error>(())
//! ```
//!
//! # Time
//! Everything that plays is a [`PlayRecord`]: plain data that is closed-form in time.
//!
//! - A change costs the same however many actors there are, and allocates nothing.
//! - An actor whose pose cannot change costs nothing until it does.
//! - Fades end, clips end, events fire and states change at their own time, not at the time of a
//!   frame. The frame rate only decides when the caller learns of it.
//!
//! If the clock goes back, nothing new happens. Clips are evaluated at the earlier time, and state
//! machines go on from their current state.
//!
//! # Layers
//! Each layer is applied over the one below, layer 0 over the rest pose. Within a layer, clips are
//! averaged by their weights, and additive clips are added after that. If the weights of a layer
//! sum to less than 1, the pose below fills the rest.

mod actor;
mod actor_id;
mod blend;
mod blend_control;
mod blend_pool;
mod blended_weights;
mod carry;
mod clock;
mod control;
mod cut;
mod deliver;
mod drive;
mod driven_record;
mod driver;
mod evaluate;
mod event;
mod expressions;
mod goal;
mod goals;
mod instances;
mod joint_ref;
mod library;
mod name_or_id;
mod own_pose;
mod pace;
mod passing;
mod play;
mod pool;
mod record;
mod root;
mod root_motion;
mod show_pose;
mod socket;
mod springs;
mod step;
mod update;
mod wake;
mod weights;
mod work;

pub use actor_id::ActorId;
pub use event::{AnimationEvent, AnimationEventKind};
pub use goal::{IkReport, IkSolver, IkTarget};
pub use instances::Animator;
pub use joint_ref::JointRef;
pub use name_or_id::NameOrId;
pub use play::{Play, Playing};
pub use record::PlayRecord;
pub use root::RootMotionMode;
pub use show_pose::ShowPose;

// For the tests and benches of this crate: not part of the API.
#[doc(hidden)]
pub use wake::WakeHeap;
