//! Animates many instances of one character, without Vulkan.
//!
//! An [`Animator`] owns the *actors* of a character: the clips, fades, events and inverse
//! kinematics targets of each instance. Use it in three steps:
//!
//! 1. Tell an actor what changes: play, stop, seek, set a target. [`Animator::actor_mut`] gives
//!    access to it, and [`Animator::actor`] to read it.
//! 2. Call [`Animator::update`], which takes all actors to the present time and collects the events
//!    that happened.
//! 3. Read the poses, in any form.
//!
//! ```
//! use throng::animator::{Animator, Play};
//! use throng::palette::Mat3x4;
//!
//! let character = throng::builtin::mannequin()?;
//! let mut animator = Animator::new(&character)?;
//! let guards = [0.0, 0.4].map(|offset_s| animator.add(Play::new("Walk").offset_s(offset_s)));
//! let guards = guards.into_iter().collect::<throng::Result<Vec<_>>>()?;
//!
//! // The first guard stops within a quarter of a second, and waves.
//! let mut first = animator.actor_mut(guards[0])?;
//! first.play(Play::new("Idle").fade_s(0.25))?;
//! first.play(Play::new("Wave").layer(1).once().fade_s(0.2))?;
//!
//! // Each frame:
//! animator.update(1.0 / 60.0)?;
//! let mut palettes = vec![Mat3x4::IDENTITY; guards.len() * character.palette().len()];
//! animator.palettes(&guards, &mut palettes)?;
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
mod actors;
mod bounds;
mod changed;
mod deliver;
mod edits;
mod evaluate;
mod event;
#[cfg(feature = "vulkan")]
mod instance;
mod library;
mod name_or_id;
mod play;
#[cfg(feature = "vulkan")]
mod played;
mod record;
mod replace;
mod restore;
mod snapshot;
mod socket;
mod solvers;
mod state;
mod step;
mod sync;
mod times;
mod wake;
mod work;

pub use actor::Actor;
pub use event::{AnimationEvent, AnimationEventKind};
#[cfg(feature = "vulkan")]
pub(crate) use instance::PoseChange;
#[cfg(feature = "vulkan")]
pub(crate) use library::{joints_by_name, moved};
pub use name_or_id::{ActorId, JointRef, NameOrId};
pub use play::{Play, Playing};
#[cfg(feature = "vulkan")]
pub(crate) use played::Played;
pub use record::PlayRecord;
pub use replace::ReplaceIssue;
#[cfg(feature = "vulkan")]
pub(crate) use replace::ReplaceIssues;
pub use snapshot::{ActorSnapshot, AnimatorSnapshot};
pub use solvers::{IkSolver, IkTarget};
#[cfg(feature = "vulkan")]
pub(crate) use state::Clock;
pub use state::{Pose, RootMotionMode, ShowPose, SpringMode};
pub(crate) use times::check_shown;
#[cfg(feature = "vulkan")]
pub(crate) use times::check_time;

use crate::animate::BatchPoser;
use crate::character::Character;
use crate::clip::Clip;
use crate::error::Result;
use crate::id::Id;
use crate::palette::{PaletteFormat, SkinningMethod};
use crate::simd::SimdLevel;
use crate::state_machine::StateMachine;
use crate::threads::Threads;
use actors::{ActorState, Actors};
use bounds::Bounds;
use edits::Edits;
use event::EventQueue;
use library::Library;
use solvers::Solvers;
use state::{Inertialiser, Mix, Pools};
use std::sync::Arc;
use wake::Schedule;
use work::Work;

/// The most actors that memory is reserved for in advance.
pub(crate) const MOST_RESERVED: usize = 1 << 20;

/// Animates many instances of one character. See the [module](crate::animator).
///
/// ```
/// use throng::animator::{Animator, Play};
/// use throng::builtin;
/// use throng::palette::Mat3x4;
///
/// let character = builtin::mannequin()?.character;
/// let mut animator = Animator::new(&character)?;
/// let actors = [animator.add("Walk")?, animator.add("Idle")?];
/// animator.update(0.5)?;
/// animator.actor_mut(actors[0])?.play(Play::new("Run").fade_s(0.3))?;
/// animator.update(0.6)?;
///
/// let mut palettes = vec![Mat3x4::IDENTITY; actors.len() * character.palette().len()];
/// animator.palettes(&actors, &mut palettes)?;
/// assert_ne!(palettes[0], palettes[character.palette().len()]);
/// # Ok::<(), throng::Error>(())
/// ```
///
/// A clone shares the character's data, and does everything that the original does from then on.
#[derive(Debug, Clone)]
#[doc(alias = "mixer")]
#[doc(alias = "AnimationMixer")]
#[doc(alias = "AnimationPlayer")]
pub struct Animator {
    library: Arc<Library>,
    poser: Arc<BatchPoser>,
    threads: Threads,
    /// The palette format that poses set by the caller must fit, with its character.
    fits: Option<(Arc<Character>, PaletteFormat)>,
    solvers: Solvers,
    actors: Actors,
    pools: Pools,
    schedule: Schedule,
    queue: EventQueue,
    work: Work,
    bounds: Bounds,
    /// The number of actors whose transform follows their root motion.
    rooted: usize,
    /// The number of actors whose spring bones swing with updates.
    swinging: usize,
    edits: Edits,
    now_s: f64,
    /// The time that poses are evaluated for.
    shown_s: f64,
}

impl Animator {
    /// The longest time after the last update that a pose can be evaluated for, in seconds.
    pub const MAX_AHEAD_S: f64 = times::MAX_AHEAD_S;

    /// Creates an animator without actors.
    ///
    /// [`Self::reserve`] reserves memory for actors. Poses are evaluated on the calling thread
    /// unless [`Self::set_threads`] sets other threads.
    ///
    /// # Errors
    /// None for a character that an importer made.
    pub fn new(character: &Character) -> Result<Self> {
        let library = Library::new(character);
        let poser = BatchPoser::new(character, &library.set.masks)?;
        let mut bounds = Bounds::new(SkinningMethod::Linear);
        bounds.make_room(&library, 0);
        Ok(Self {
            library: Arc::new(library),
            poser: Arc::new(poser),
            threads: Threads::default(),
            fits: None,
            solvers: Solvers::default(),
            actors: Actors::default(),
            pools: Pools::default(),
            schedule: Schedule::default(),
            queue: EventQueue::default(),
            work: Work::default(),
            bounds,
            rooted: 0,
            swinging: 0,
            edits: Edits::default(),
            now_s: 0.0,
            shown_s: 0.0,
        })
    }

    /// Reserves memory for this many actors in all, for two clips and one event of each.
    ///
    /// Adding the actors then allocates little. At most 1,048,576 are reserved in advance; memory
    /// for more grows as they are added.
    pub fn reserve(&mut self, actors: usize) {
        let actors = actors.min(MOST_RESERVED);
        self.reserve_lists(actors);
        if !self.library.blend_spaces().is_empty() {
            self.pools.reserve_blends(actors);
        }
        self.queue.reserve(actors);
        self.work.make_room(actors, 0);
    }

    /// Reserves memory for what every actor has.
    fn reserve_lists(&mut self, actors: usize) {
        self.actors.reserve(actors);
        self.pools.reserve(actors);
        self.schedule.reserve(actors);
        self.bounds.reserve_exact(actors);
    }

    /// Adds an actor that plays `play` immediately, without a fade.
    ///
    /// # Errors
    /// The same as [`Actor::play`].
    pub fn add<'a>(&mut self, play: impl Into<Play<'a>>) -> Result<ActorId> {
        let play = play.into().fade_s(0.0).inertial_s(0.0);
        let resolved = self.library.resolve(&play)?;
        let id = self.add_actor();
        self.change(id.index, |it| it.mix().play(&play, resolved));
        Ok(id)
    }

    fn add_actor(&mut self) -> ActorId {
        let id = self.actors.add(self.now_s);
        self.touched(id.index);
        // Allocate now, so that no update does.
        self.bounds.reserve(self.actors.list.len());
        self.set_springs(id.index, SpringMode::default());
        id
    }

    /// Removes an actor. Its events of this update stay in the list.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) or [`Error::Stale`](crate::Error::Stale) if it
    /// is not alive.
    pub fn remove(&mut self, id: ActorId) -> Result<()> {
        self.actors.check(id)?;
        let actor = &mut self.actors[id.index];
        actor.layers.release(&mut self.pools);
        self.work.specials -= usize::from(actor.may_be_special);
        self.rooted -= usize::from(actor.is_rooted());
        self.swinging -= usize::from(actor.springs.mode() == SpringMode::Game);
        self.actors.remove(id.index);
        self.touched(id.index);
        self.schedule.wake.set(id.index, f64::INFINITY);
        Ok(())
    }

    /// Returns true if the actor is alive.
    #[must_use]
    pub fn is_alive(&self, id: ActorId) -> bool {
        self.actors.check(id).is_ok()
    }

    /// The ids of all actors, ascending by index.
    pub fn actors(&self) -> impl ExactSizeIterator<Item = ActorId> + '_ {
        self.actors.ids()
    }

    /// Adds a solver, for which actors can be given targets.
    ///
    /// `solver` is a [`TwoBone`](crate::ik::TwoBone), an [`Aim`](crate::ik::Aim), an
    /// [`IkChain`](crate::ik::IkChain) or a [`FootPlacement`](crate::ik::FootPlacement). Solvers
    /// work on the blended pose, in the order in which they were added.
    ///
    /// # Errors
    /// - [`Error::NotFound`](crate::Error::NotFound), [`Error::Argument`](crate::Error::Argument)
    ///   or [`Error::At`](crate::Error::At) if the solver does not fit the character. The error
    ///   names the joint or the field.
    /// - [`Error::Capacity`](crate::Error::Capacity) beyond 65,535 solvers.
    pub fn add_solver(&mut self, solver: impl Into<IkSolver>) -> Result<Id<IkSolver>> {
        self.solvers.add(solver.into(), &self.library.skeleton)
    }

    /// The state machine of the character.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if the character has none.
    pub fn state_machine(&self) -> Result<&StateMachine> {
        self.library.expect_state_machine()
    }

    /// The time of the last update, in seconds.
    #[must_use]
    pub fn now_s(&self) -> f64 {
        self.now_s
    }

    /// Sets the time that poses are evaluated for, until the next update.
    ///
    /// It is that of the last update at first. A game with fixed steps shows pictures between them
    /// with it: what plays goes on to that time, and nothing of the game changes. What the next
    /// update will find, such as the transition of a state machine, is not shown before.
    ///
    /// It applies to [`Self::palettes`], [`Self::local_poses`] and [`Self::model_poses`].
    ///
    /// ```
    /// use throng::animator::Animator;
    /// use throng::glam::Affine3A;
    ///
    /// let character = throng::builtin::mannequin()?.character;
    /// let mut animator = Animator::new(&character)?;
    /// let guard = animator.add("Walk")?;
    /// animator.update(0.5)?;
    /// let mut poses = [0.50, 0.51].map(|_| vec![Affine3A::IDENTITY; character.skeleton().len()]);
    /// for (time_s, pose) in [0.50, 0.51].into_iter().zip(&mut poses) {
    ///     animator.show_at(time_s)?;
    ///     animator.model_poses(&[guard], pose)?;
    /// }
    /// assert_ne!(poses[0], poses[1]);
    /// assert_eq!(animator.now_s(), 0.5);
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if the time is before that of the last update,
    /// or more than [`Self::MAX_AHEAD_S`] after it.
    pub fn show_at(&mut self, time_s: f64) -> Result<()> {
        check_shown(time_s, self.now_s)?;
        self.shown_s = time_s;
        Ok(())
    }

    /// Sets the threads that evaluate poses.
    pub fn set_threads(&mut self, threads: Threads) {
        self.threads = threads;
        self.schedule.warmed = 0;
        self.warm();
    }

    /// Evaluates poses with another SIMD level than the best of the CPU.
    ///
    /// Blended clips and palettes then have the same bits on every CPU of the same architecture.
    /// For that, choose a level that all machines have. Root motion that turns, inverse kinematics,
    /// spring bones and the game's own code also call functions of the platform's library, so they
    /// still need the same build of it. What actors play does not depend on the level. A crowd has
    /// `CrowdDesc::simd_level`, and [`Skinner`](crate::skin::Skinner) has a level of its own.
    ///
    /// ```
    /// use throng::SimdLevel;
    /// use throng::animator::Animator;
    ///
    /// let character = throng::builtin::mannequin()?;
    /// let mut animator = Animator::new(&character)?;
    /// animator.set_simd_level(SimdLevel::Portable)?;
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if this CPU cannot run it.
    pub fn set_simd_level(&mut self, level: SimdLevel) -> Result<()> {
        Arc::make_mut(&mut self.poser).set_simd_level(level)?;
        // A clone of the poser has no memory of its own yet.
        self.schedule.warmed = 0;
        self.warm();
        Ok(())
    }

    /// The events of the last update, in order of time.
    #[must_use]
    pub fn events(&self) -> &[AnimationEvent] {
        self.queue.events()
    }

    /// The number of events that the last update dropped.
    ///
    /// One clip delivers at most 1,024 events in one update.
    #[must_use]
    pub fn events_left_out(&self) -> u64 {
        self.queue.left_out()
    }

    /// The name that belongs to an event: of the clip's event, of the clip that finished, or of the
    /// state that was left or entered.
    ///
    /// ```
    /// use throng::animator::{Animator, AnimationEventKind, Play};
    ///
    /// let character = throng::builtin::mannequin()?;
    /// let mut animator = Animator::new(&character)?;
    /// animator.add(Play::new("Wave").once())?;
    /// animator.update(60.0)?;
    /// let finished = animator.events().iter().any(|event| {
    ///     matches!(event.kind, AnimationEventKind::Finished { .. })
    ///         && animator.event_name(event) == "Wave"
    /// });
    /// assert!(finished);
    /// # Ok::<(), throng::Error>(())
    /// ```
    #[must_use]
    pub fn event_name<Id>(&self, event: &AnimationEvent<Id>) -> &str {
        match event.kind {
            AnimationEventKind::Clip { event, .. } => self.library.set.event_name(event),
            AnimationEventKind::Finished { clip, .. } => {
                let clip = self.library.clips.get(clip.index());
                clip.map_or("", Clip::name)
            }
            AnimationEventKind::Left { state } | AnimationEventKind::Entered { state } => {
                let machine = self.library.state_machine();
                machine.map_or("", |machine| machine.state_name(event.layer, state))
            }
        }
    }

    /// The number of times that an update visited an actor, since creation.
    ///
    /// It measures the cost of updates. Actors to which nothing happens are not visited: see
    /// [`Self::update`].
    #[must_use]
    pub fn visits(&self) -> u64 {
        self.schedule.visits
    }
}

/// An actor with everything that a change of it needs.
pub(in crate::animator) struct Change<'a> {
    actor: &'a mut ActorState,
    library: &'a Library,
    pools: &'a mut Pools,
    poser: &'a BatchPoser,
    threads: &'a Threads,
    work: &'a mut Work,
    /// The actor's time.
    local_s: f64,
}

impl Change<'_> {
    fn mix(&mut self) -> Mix<'_> {
        let layers = &mut self.actor.layers;
        Mix::new(self.library, self.pools, layers, self.local_s)
    }

    /// The inertialiser that starts a transition of the actor, and its records.
    fn inertialiser(&mut self) -> (Inertialiser<'_>, &[PlayRecord]) {
        let inertialiser = Inertialiser {
            library: self.library,
            poser: self.poser,
            threads: self.threads,
            own: self.actor.own_clip.as_deref(),
            inertialisation: &mut self.actor.inertialisation,
            samples: &mut self.work.samples,
        };
        (inertialiser, self.actor.layers.records(self.pools))
    }
}

impl Animator {
    /// Notes that an actor has changed, for rollbacks.
    fn touched(&mut self, index: u32) {
        self.actors.eras[index as usize].changed = self.edits.era();
    }

    /// Notes that an actor was moved, for rollbacks.
    fn moved(&mut self, index: u32) {
        let era = self.edits.era();
        self.actors.eras[index as usize].set_moved(era);
    }

    fn parts(&mut self, index: u32) -> Change<'_> {
        self.touched(index);
        let actor = &mut self.actors[index];
        Change {
            local_s: actor.clock.local_s(self.now_s),
            actor,
            library: &self.library,
            pools: &mut self.pools,
            poser: &self.poser,
            threads: &self.threads,
            work: &mut self.work,
        }
    }

    /// Takes an actor to the present, changes it, and wakes it with the next update.
    fn change<R>(&mut self, index: u32, change: impl FnOnce(&mut Change<'_>) -> R) -> R {
        self.touch(index);
        let result = change(&mut self.parts(index));
        self.changed(index);
        result
    }

    /// Reserves buffers for an actor whose pose may need more than its records.
    ///
    /// These are inverse kinematics, a pose set by the caller, or an inertialised transition.
    fn expect_special(&mut self, index: u32) {
        let may_be_special = &mut self.actors[index].may_be_special;
        self.work.specials += usize::from(!*may_be_special);
        *may_be_special = true;
        let joints = self.library.skeleton.len();
        self.work.make_room(self.actors.len(), joints);
        if !self.library.springs.is_empty() {
            let swings = &mut self.work.swings;
            swings.reserve(self.actors.len().saturating_sub(swings.len()));
        }
    }

    /// Sets how an actor's spring bones swing, if the character has any.
    fn set_springs(&mut self, index: u32, mode: SpringMode) {
        let actor = &mut self.actors[index];
        let (before, world) = (actor.springs.mode(), actor.world.into());
        actor.springs.set_mode(mode, &self.library.springs, &world);
        let [before, now] =
            [before, actor.springs.mode()].map(|mode| usize::from(mode == SpringMode::Game));
        self.swinging = self.swinging + now - before;
        if actor.springs.is_on() {
            self.expect_special(index);
        }
    }
}
