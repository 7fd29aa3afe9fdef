//! Many instances of one character, animated together, without Vulkan.
//!
//! An [`Animator`] owns the *actors* of a character: what each plays, fades, waits for and reaches
//! for. The caller says what changes; [`Animator::update`] takes all of them to the present time,
//! and tells what happened; then poses come out in any form.
//!
//! ```
//! use throng::animator::{Animator, AnimatorDesc, Play};
//! use throng::palette::{Mat3x4, WriteOnly};
//!
//! let character = throng::builtin::mannequin()?;
//! let mut animator = Animator::new(&character, &AnimatorDesc::default())?;
//! let guards = [0.0, 0.4].map(|offset_s| animator.add(Play::new("Walk").offset_s(offset_s)));
//! let guards = guards.into_iter().collect::<throng::Result<Vec<_>>>()?;
//!
//! // The first stops, in a quarter of a second, and waves.
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
//! Everything that plays is a [`PlayRecord`]: plain data that is closed-form in time. A change
//! costs the same however many actors there are, and allocates nothing; an actor whose pose cannot
//! change costs nothing until it does. Fades end, clips end, events pass and states change at their
//! own time and not at a frame's, so the frame rate changes nothing but when the caller hears of
//! it.
//!
//! A clock that goes back tells nothing: clips stand where they stood at that time, and state
//! machines go on from what they had come to.
//!
//! # Layers
//! Each layer is laid over the one below, layer 0 over the rest pose. Within a layer clips are
//! averaged by their weights; additive clips are added after that. What is missing to a weight of 1
//! is what lies below.

mod actor;
mod blend;
mod blend_control;
mod blend_pool;
mod carry;
mod clock;
mod control;
mod deliver;
mod desc;
mod drive;
mod driver;
mod evaluate;
mod event;
mod goal;
mod goals;
mod joint_ref;
mod library;
mod own_pose;
mod pace;
mod play;
mod pool;
mod record;
mod root;
mod socket;
mod step;
#[cfg(test)]
mod tests;
mod update;
mod wake;
mod weights;

pub use actor::ActorId;
pub use desc::AnimatorDesc;
pub use event::{AnimationEvent, AnimationEventKind};
pub use goal::{IkReport, IkSolver, IkTarget, SolverId};
pub use joint_ref::JointRef;
pub use own_pose::ShowPose;
pub use play::{BlendSpaceRef, ClipRef, MaskRef, Play, Playing};
pub use record::{
    BLEND_BITS, FLAG_FINISHED, FLAG_IN_STEP, FLAG_POSE, FLAG_STARTED, FLAG_STATE_MACHINE, NO_MASK,
    PlayRecord,
};
pub use root::RootMotionMode;

use crate::animate::BatchPoser;
use crate::character::Character;
use crate::clip::Clip;
use crate::error::Result;
use crate::ik::IkRig;
use actor::Actors;
use blend_pool::BlendPool;
use carry::CutWork;
use evaluate::Work;
use event::EventQueue;
use library::Library;
use pool::RecordPool;
use wake::WakeHeap;

/// For how many actors room is made at most before they come.
const MOST_RESERVED: usize = 1 << 20;

/// How much weight layer 0 needs so that nothing of the rest pose is seen: 1 but for rounding.
const THRESHOLD: f32 = 0.999;

/// Many instances of one character, animated together. See the [module](self).
#[derive(Debug)]
#[doc(alias = "AnimationMixer")]
#[doc(alias = "AnimationPlayer")]
pub struct Animator {
    library: Library,
    poser: BatchPoser,
    threads: crate::Threads,
    actors: Actors,
    pool: RecordPool,
    blends: BlendPool,
    wake: WakeHeap,
    /// Actors that an update visits.
    due: Vec<u32>,
    queue: EventQueue,
    solvers: Vec<IkSolver>,
    rig: Option<IkRig>,
    work: Work,
    /// How many actors may take more than their records.
    specials: usize,
    cut_work: CutWork,
    /// The most records of an actor that the evaluation has room for.
    warmed: usize,
    now_s: f64,
    /// How many actors were visited.
    #[cfg(test)]
    visits: u64,
}

impl Animator {
    /// Makes an animator without actors.
    ///
    /// # Errors
    /// None for a character that an importer made.
    pub fn new(character: &Character, desc: &AnimatorDesc) -> Result<Self> {
        Self::with_library(character, Library::new(character), desc)
    }

    fn with_library(character: &Character, library: Library, desc: &AnimatorDesc) -> Result<Self> {
        let poser = BatchPoser::new(character)?
            .with_masks(library.set.masks())?
            .with_threshold(THRESHOLD)?;
        let mut animator = Self {
            library,
            poser,
            threads: desc.threads.clone(),
            actors: Actors::default(),
            pool: RecordPool::default(),
            blends: BlendPool::default(),
            wake: WakeHeap::default(),
            due: Vec::new(),
            queue: EventQueue::with_capacity(desc.actors.min(MOST_RESERVED)),
            solvers: Vec::new(),
            rig: None,
            work: Work::default(),
            specials: 0,
            cut_work: CutWork::default(),
            warmed: 0,
            now_s: 0.0,
            #[cfg(test)]
            visits: 0,
        };
        animator.reserve(desc.actors);
        Ok(animator)
    }

    /// Makes room for this many actors in all, so that adding them allocates little; for 1,048,576
    /// at most, and the others as they come.
    pub fn reserve(&mut self, actors: usize) {
        let actors = actors.min(MOST_RESERVED);
        self.actors.reserve(actors);
        self.pool.reserve(actors);
        if !self.library.blend_spaces().is_empty() {
            // One, and one that fades out.
            self.blends.reserve(2 * actors);
        }
        self.wake.reserve(actors);
        self.due.reserve(actors.saturating_sub(self.due.len()));
        self.work.make_room(actors, 0, 0);
    }

    /// Adds an actor that plays this. What it plays first begins at once, without a fade.
    ///
    /// # Errors
    /// As [`Self::play`].
    pub fn add<'a>(&mut self, play: impl Into<Play<'a>>) -> Result<ActorId> {
        let play = play.into().fade_s(0.0).inertial_s(0.0);
        let resolved = self.resolve(&play)?;
        let id = self.actors.add(self.now_s);
        match resolved {
            Some(resolved) => self.start(id.index, &play, resolved),
            None => self.changed(id.index),
        }
        Ok(id)
    }

    /// Removes an actor. Its events of this update stay.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) or [`Error::Stale`](crate::Error::Stale) if it
    /// is not alive.
    pub fn remove(&mut self, id: ActorId) -> Result<()> {
        self.actors.check(id)?;
        if let Some(actor) = self.actors.list.get_mut(id.index as usize) {
            self.pool.release(&mut actor.block);
            self.blends.retain(&mut actor.blends, |_| false);
            self.specials -= usize::from(actor.may_be_special);
        }
        self.actors.remove(id.index);
        self.wake.set(id.index, f64::INFINITY);
        Ok(())
    }

    /// Makes room for an actor whose poses take more than its records: inverse kinematics, a pose
    /// of the caller's, or an inertialised transition.
    pub(crate) fn expect_special(&mut self, index: u32) {
        let Some(actor) = self.actors.list.get_mut(index as usize) else {
            return;
        };
        if !actor.may_be_special {
            actor.may_be_special = true;
            self.specials += 1;
        }
        let (actors, joints) = (self.actors.len(), self.library.skeleton.len());
        self.work.make_room(actors, self.specials, joints);
    }

    /// Whether the actor is alive.
    #[must_use]
    pub fn is_alive(&self, id: ActorId) -> bool {
        self.actors.check(id).is_ok()
    }

    /// How many actors there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.actors.len()
    }

    /// Whether there is no actor.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The actors, in the order of their numbers.
    pub fn actors(&self) -> impl Iterator<Item = ActorId> + '_ {
        self.actors.ids()
    }

    /// The time of the last update, in seconds.
    #[must_use]
    pub fn now_s(&self) -> f64 {
        self.now_s
    }

    /// The threads that poses are evaluated on.
    pub fn set_threads(&mut self, threads: crate::Threads) {
        self.threads = threads;
        self.warmed = 0;
        self.warm();
    }

    /// What happened in the last update, in the order of time.
    #[must_use]
    pub fn events(&self) -> &[AnimationEvent] {
        self.queue.events()
    }

    /// How many events the last update left out: a clip delivers 1,024 at most in one update.
    #[must_use]
    pub fn events_left_out(&self) -> u64 {
        self.queue.left_out()
    }

    /// The name of an event: of a clip's own, of a finished clip, or of a state.
    #[must_use]
    pub fn event_name(&self, event: &AnimationEvent) -> &str {
        match event.kind {
            AnimationEventKind::Clip { event, .. } => self.library.set.event_name(event),
            AnimationEventKind::Finished { clip } => {
                let clip = self.library.clips.get(clip.index());
                clip.map_or("", Clip::name)
            }
            AnimationEventKind::Left { state } | AnimationEventKind::Entered { state } => {
                let machine = self.library.state_machine();
                machine.map_or("", |machine| machine.state_name(event.layer, state))
            }
        }
    }

    /// Whether an actor is in the rest pose, and stays there until something is played.
    #[cfg(any(feature = "vulkan", test))]
    pub(crate) fn is_resting(&self, index: u32) -> bool {
        let actor = self.actors.list.get(index as usize);
        actor.is_none_or(|actor| actor.block.is_empty() && actor.goals.is_empty())
    }

    /// A number that stands for an actor's pose while it does not change: equal numbers mean equal
    /// poses. `None` while it moves.
    #[cfg(any(feature = "vulkan", test))]
    pub(crate) fn still_pose(&self, index: u32) -> Option<u32> {
        let actor = self.actors.list.get(index as usize)?;
        let local_s = actor.clock.local_s(self.now_s);
        let still = actor.clock.stands() || local_s >= actor.still_from_s;
        still.then_some(actor.version)
    }
}
