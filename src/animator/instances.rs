//! The [`Animator`]: construction, and the actors that it owns.

use super::actor::Actors;
use super::blend_pool::BlendPool;
use super::blended_weights::THRESHOLD;
use super::carry::CutWork;
use super::event::EventQueue;
use super::library::Library;
use super::pool::RecordPool;
use super::wake::WakeHeap;
use super::work::{Swing, Work};
use super::{ActorId, AnimationEvent, AnimationEventKind, IkSolver, Play};
use crate::animate::BatchPoser;
use crate::character::Character;
use crate::clip::Clip;
use crate::error::Result;
use crate::ik::IkRig;

/// The most actors that memory is reserved for in advance.
pub(crate) const MOST_RESERVED: usize = 1 << 20;

/// Animates many instances of one character. See the [module](crate::animator).
///
/// ```
/// use throng::animator::{Animator, Play};
/// use throng::builtin;
/// use throng::palette::{Mat3x4, WriteOnly};
///
/// let character = builtin::mannequin()?.character;
/// let mut animator = Animator::new(&character)?;
/// let actors = [animator.add("Walk")?, animator.add("Idle")?];
/// animator.update(0.5)?;
/// animator.play(actors[0], Play::new("Run").fade_s(0.3))?;
/// animator.update(0.6)?;
///
/// let mut palettes = vec![Mat3x4::IDENTITY; actors.len() * character.palette().len()];
/// animator.palettes(&actors, WriteOnly::over(&mut palettes))?;
/// assert_ne!(palettes[0], palettes[character.palette().len()]);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug)]
#[doc(alias = "mixer")]
#[doc(alias = "AnimationMixer")]
#[doc(alias = "AnimationPlayer")]
pub struct Animator {
    pub(crate) library: Library,
    pub(crate) poser: BatchPoser,
    pub(crate) threads: crate::Threads,
    pub(crate) actors: Actors,
    pub(crate) pool: RecordPool,
    pub(crate) blends: BlendPool,
    pub(crate) wake: WakeHeap,
    /// Actors that the current update visits.
    pub(crate) due: Vec<u32>,
    pub(crate) queue: EventQueue,
    pub(crate) solvers: Vec<IkSolver>,
    pub(crate) rig: Option<IkRig>,
    pub(super) work: Work,
    /// The spring bones of the actors whose poses are evaluated.
    pub(super) swings: Vec<Swing>,
    /// The number of actors whose pose may need more than their records.
    pub(crate) specials: usize,
    pub(crate) cut_work: CutWork,
    /// The largest number of records per actor that evaluation buffers were allocated for.
    pub(crate) warmed: usize,
    pub(crate) now_s: f64,
    /// The number of visits to actors since creation.
    pub(crate) visits: u64,
}

impl Animator {
    /// Creates an animator without actors.
    ///
    /// [`Self::reserve`] reserves memory for actors. Poses are evaluated on the calling thread
    /// unless [`Self::set_threads`] sets other threads.
    ///
    /// # Errors
    /// None for a character that an importer made.
    pub fn new(character: &Character) -> Result<Self> {
        let library = Library::new(character);
        let poser = BatchPoser::new(character)?
            .with_masks(&library.set.masks)?
            .with_threshold(THRESHOLD)?;
        Ok(Self {
            library,
            poser,
            threads: crate::Threads::default(),
            actors: Actors::default(),
            pool: RecordPool::default(),
            blends: BlendPool::default(),
            wake: WakeHeap::default(),
            due: Vec::new(),
            queue: EventQueue::default(),
            solvers: Vec::new(),
            rig: None,
            work: Work::default(),
            swings: Vec::new(),
            specials: 0,
            cut_work: CutWork::default(),
            warmed: 0,
            now_s: 0.0,
            visits: 0,
        })
    }

    /// Reserves memory for this many actors in all, and for one event of each.
    ///
    /// Adding the actors then allocates little. At most 1,048,576 are reserved in advance; memory
    /// for more grows as they are added.
    pub fn reserve(&mut self, actors: usize) {
        let actors = actors.min(MOST_RESERVED);
        self.actors.reserve(actors);
        self.pool.reserve(actors);
        if !self.library.blend_spaces().is_empty() {
            // Per actor, one that plays and one that fades out.
            self.blends.reserve(2 * actors);
        }
        self.wake.reserve(actors);
        self.due.reserve(actors.saturating_sub(self.due.len()));
        self.queue.reserve(actors);
        self.work.make_room(actors, 0, 0);
    }

    /// Adds an actor that plays `play` immediately, without a fade.
    ///
    /// # Errors
    /// The same as [`Self::play`].
    pub fn add<'a>(&mut self, play: impl Into<Play<'a>>) -> Result<ActorId> {
        let play = play.into().fade_s(0.0).inertial_s(0.0);
        let resolved = self.resolve(&play)?;
        let id = self.actors.add(self.now_s);
        self.start_springs(id.index);
        match resolved {
            Some(resolved) => self.start(id.index, &play, resolved),
            None => self.changed(id.index),
        }
        Ok(id)
    }

    /// Removes an actor. Its events of this update stay in the list.
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

    /// Reserves buffers for an actor whose pose may need more than its records.
    ///
    /// These are inverse kinematics, a pose set by the caller, or an inertialised transition.
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

    /// Returns true if the actor is alive.
    #[must_use]
    pub fn is_alive(&self, id: ActorId) -> bool {
        self.actors.check(id).is_ok()
    }

    /// The number of actors.
    #[must_use]
    pub fn len(&self) -> usize {
        self.actors.len()
    }

    /// Returns true if there are no actors.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The ids of all actors, ascending by index.
    pub fn actors(&self) -> impl Iterator<Item = ActorId> + '_ {
        self.actors.ids()
    }

    /// The time of the last update, in seconds.
    #[must_use]
    pub fn now_s(&self) -> f64 {
        self.now_s
    }

    /// Sets the threads that evaluate poses.
    pub fn set_threads(&mut self, threads: crate::Threads) {
        self.threads = threads;
        self.warmed = 0;
        self.warm();
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

    /// The name that belongs to an event: of the clip's event, the finished clip, or the state.
    #[must_use]
    pub fn event_name<Id>(&self, event: &AnimationEvent<Id>) -> &str {
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

    // For the crowd, and for the tests of this crate: not part of the API.

    /// The number of times that an actor was brought up to date, since creation.
    #[doc(hidden)]
    #[must_use]
    pub fn visits(&self) -> u64 {
        self.visits
    }

    /// Returns true if the actor is in the rest pose and stays there until something is played.
    #[doc(hidden)]
    #[must_use]
    pub fn is_resting(&self, id: ActorId) -> bool {
        let actor = self.actors.list.get(id.index as usize);
        actor.is_none_or(|actor| {
            actor.block.is_empty() && actor.goals.is_empty() && actor.springs.is_none()
        })
    }

    /// A number that identifies an actor's pose while it does not change.
    ///
    /// Equal numbers mean equal poses. `None` while the actor moves.
    #[doc(hidden)]
    #[must_use]
    pub fn still_pose(&self, id: ActorId) -> Option<u32> {
        let actor = self.actors.list.get(id.index as usize)?;
        let local_s = actor.clock.local_s(self.now_s);
        if actor.springs.is_some() {
            return None;
        }
        let still = actor.clock.stands() || local_s >= actor.still_from_s;
        still.then_some(actor.version)
    }
}
