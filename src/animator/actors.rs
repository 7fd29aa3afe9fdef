//! The actors of an animator: ids and rows of state.

use super::edits::Eras;
use super::library::Library;
use super::state::{
    Clock, Driver, Goals, Layers, OwnPose, Playback, Pools, Root, RootMotionMode, Springs, Weights,
};
use crate::animate::BatchPoser;
use crate::animator::{ActorId, PlayRecord};
use crate::clip::Clip;
use crate::error::{Error, Result, expect_index};
use crate::grow::reserve_all;
use crate::id::Ids;
use crate::mesh::Sphere;
use crate::motion::Inertialisation;
use crate::skeleton::Shift;
use core::hint::black_box;
use core::ops::{Index, IndexMut};
use glam::Affine3A;

/// An [`Affine3A`] without padding, by columns.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct PackedAffine([f32; 12]);

impl From<Affine3A> for PackedAffine {
    fn from(affine: Affine3A) -> Self {
        Self(affine.to_cols_array())
    }
}

impl From<PackedAffine> for Affine3A {
    fn from(packed: PackedAffine) -> Self {
        Self::from_cols_array(&packed.0)
    }
}

/// The state of an actor, by owner.
///
/// The fields for visits come first, so that they lie in few cache lines: see
/// [`Animator::update`](super::Animator::update).
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(C)]
pub(crate) struct ActorState {
    pub(super) clock: Clock,
    /// The actor's time up to which events were delivered and root motion was applied.
    pub(super) passed_s: f64,
    /// The actor's time up to which nothing happens but root motion: see
    /// [`Animator::advance_root_only`](super::Animator). It is not after its present time if
    /// something may.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) walks_until_s: f64,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) layers: Layers,
    alive: bool,
    /// True if it was changed since its last visit, so that the next update visits it.
    pub(super) changed: bool,
    /// True if it delivers no events.
    #[cfg_attr(feature = "serde", serde(default))]
    pub(super) is_silent: bool,
    /// True once it had inverse kinematics, its own pose or an inertialised transition.
    ///
    /// It may have them again.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) may_be_special: bool,
    pub(super) root: Option<Box<Root>>,
    /// The actor's time from which its pose no longer changes. Infinite while it changes.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) still_from_s: f64,
    generation: u32,
    /// Counts changes of its pose other than those caused by time. It never goes back.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) version: u32,
    /// The offsets of an inertialised transition.
    pub(super) inertialisation: Option<Box<Inertialisation>>,
    pub(super) driver: Option<Box<Driver>>,
    pub(super) own_pose: Option<Box<OwnPose>>,
    pub(super) springs: Springs,
    pub(super) goals: Goals,
    /// Its own pose as a clip of a single frame, made by its animator's poser. It exists exactly if
    /// its own pose does.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) own_clip: Option<Box<Clip>>,
    pub(super) weights: Option<Box<Weights>>,
    /// World space from character space, for spring bones and root motion.
    pub(super) world: PackedAffine,
}

impl Default for ActorState {
    fn default() -> Self {
        Self::new(0, 0.0)
    }
}

impl ActorState {
    /// Takes over everything that a snapshot has, apart from what it plays.
    ///
    /// The rest depends on where it is: memory of records, versions, and what is derived.
    pub(super) fn take_over(&mut self, from: &Self) {
        macro_rules! take_over {
            ($($field:ident)*) => { $(self.$field.clone_from(&from.$field);)* };
        }
        take_over!(clock passed_s walks_until_s changed root driver own_pose inertialisation goals);
        take_over!(weights is_silent world);
        self.springs.take_over(&from.springs);
    }

    /// Takes its transforms to another origin, apart from those of spring bones.
    pub(super) fn shift_world(&mut self, shift: &Shift) {
        let mut world = self.world.into();
        shift.place(&mut world);
        self.world = world.into();
        if let Some(root) = &mut self.root {
            root.transform.translation -= shift.offset;
        }
    }

    /// Takes what a snapshot had to another origin.
    pub(super) fn shift_saved(&mut self, library: &Library, shift: Option<&Shift>) {
        if let Some(shift) = shift {
            self.shift_world(shift);
            self.springs.shift_game(&library.springs, shift);
        }
    }

    /// Goes back to a snapshot since which it was moved, by root motion or by the caller, or
    /// delivered events, and nothing else happened to it. Its world transform stays: see
    /// [`Self::rewind_world`].
    pub(super) fn rewind(&mut self, from: &Self) {
        (self.passed_s, self.walks_until_s) = (from.passed_s, from.walks_until_s);
        if let (Some(own), Some(from)) = (&mut self.root, &from.root) {
            own.clone_from(from);
        }
    }

    /// Takes the world transform of a snapshot, which `shift` takes to the present origin.
    pub(super) fn rewind_world(&mut self, from: &Self, library: &Library, shift: Option<&Shift>) {
        self.world = from.world;
        if let Some(shift) = shift {
            self.shift_world(shift);
        }
        let world = self.world.into();
        self.springs
            .set_shown_world(&library.springs, &world, false);
    }

    /// Returns true if its bounding sphere at any time is that of another state, with these
    /// records of both.
    pub(super) fn reaches_as(&self, own: &[PlayRecord], other: (&Self, &[PlayRecord])) -> bool {
        let steady = |(a, b): (&PlayRecord, &PlayRecord)| {
            let is_pose = |record: &PlayRecord| record.has(PlayRecord::FLAG_POSE);
            a.from_weight == a.to_weight
                && b.from_weight == b.to_weight
                && a.to_weight == b.to_weight
                && (a.clip, a.layer, is_pose(a)) == (b.clip, b.layer, is_pose(b))
        };
        let special = self.needs_more() || other.0.needs_more();
        !special && own.len() == other.1.len() && own.iter().zip(other.1).all(steady)
    }

    /// Takes over the id, too.
    pub(super) fn take_over_all(&mut self, from: &Self) {
        if self.generation != from.generation {
            // Another actor was at this index.
            self.springs = Springs::default();
        }
        (self.generation, self.alive) = (from.generation, from.alive);
        self.take_over(from);
    }

    /// Makes the clip of its own pose with its animator's poser. Without such a pose, it has no
    /// clip.
    pub(super) fn update_own_clip(&mut self, poser: &BatchPoser) {
        let Some(own) = &self.own_pose else {
            self.own_clip = None;
            return;
        };
        let clip = || Box::new(poser.single_clip());
        self.own_clip
            .get_or_insert_with(clip)
            .set_single(own.local());
    }

    pub(super) fn id(&self, index: u32) -> Option<ActorId> {
        let generation = self.generation;
        self.alive.then_some(ActorId { index, generation })
    }

    /// Reads a value of each cache line that a visit reads.
    pub(super) fn fetch(&self) {
        black_box((self.passed_s, self.version, self.goals.is_empty()));
    }

    pub(super) fn is_alive(&self) -> bool {
        self.alive
    }

    /// Returns true if its pose may need more than its records.
    pub(super) fn needs_more(&self) -> bool {
        let transition = self.inertialisation.is_some() || self.own_pose.is_some();
        transition || !self.goals.is_empty() || self.springs.is_on()
    }

    fn new(generation: u32, now_s: f64) -> Self {
        Self {
            generation,
            alive: true,
            clock: Clock::SAME,
            layers: Layers::default(),
            passed_s: now_s,
            changed: false,
            still_from_s: f64::INFINITY,
            walks_until_s: f64::NEG_INFINITY,
            version: 0,
            root: None,
            driver: None,
            own_pose: None,
            own_clip: None,
            may_be_special: false,
            inertialisation: None,
            goals: Goals::default(),
            weights: None,
            springs: Springs::default(),
            is_silent: false,
            world: Affine3A::IDENTITY.into(),
        }
    }

    /// The state of an index without an actor.
    pub(super) fn dead() -> Self {
        Self {
            alive: false,
            ..Self::default()
        }
    }

    fn renew(&mut self, generation: u32, now_s: f64) {
        let version = self.version.wrapping_add(1);
        *self = Self {
            version,
            ..Self::new(generation, now_s)
        };
    }

    /// Notes a change of its pose other than by time.
    pub(super) fn note_change(&mut self) {
        self.version = self.version.wrapping_add(1);
    }

    /// The offsets of an inertialised transition, if any remain at `local_s`.
    pub(super) fn inertialised_at(&self, local_s: f64) -> Option<&Inertialisation> {
        let transition = self.inertialisation.as_deref();
        transition.filter(|transition| !transition.is_over(local_s))
    }

    /// Its playback at a time of its own.
    #[inline]
    pub(super) fn playback<'a>(
        &'a self,
        library: &'a Library,
        pools: &'a Pools,
        local_s: f64,
    ) -> Playback<'a> {
        let (own, records) = (self.own_clip.as_deref(), self.layers.records(pools));
        Playback {
            library,
            own,
            records,
            local_s,
        }
    }

    /// Returns true if its pose needs more than its records.
    ///
    /// This is the case with inverse kinematics, spring bones, a model pose, or decaying offsets
    /// after an inertialised transition.
    pub(super) fn is_special(&self, now_s: f64) -> bool {
        if self.inertialised_at(self.clock.local_s(now_s)).is_some() {
            return true;
        }
        let own_pose = self.own_pose.as_ref();
        let solved = !self.goals.is_empty() || self.springs.is_on();
        solved || own_pose.is_some_and(|own| own.model().is_some())
    }

    /// Returns true if its transform follows its root motion.
    pub(super) fn is_rooted(&self) -> bool {
        let root = self.root.as_ref();
        root.is_some_and(|root| root.mode == RootMotionMode::Apply)
    }

    /// Sets its world transform. A `jump` moves its spring bones along.
    #[inline]
    pub(super) fn put(&mut self, library: &Library, world: &Affine3A, jump: bool) {
        self.world = (*world).into();
        self.springs.set_world(&library.springs, world, jump);
    }

    /// Lets root motion continue from its world transform.
    #[cfg(feature = "vulkan")]
    pub(super) fn continue_root(&mut self) {
        if let Some(root) = &mut self.root {
            root.continue_at(&self.world.into());
        }
    }

    /// Returns true if it is in the rest pose at a time and stays there until something is played.
    #[cfg(feature = "vulkan")]
    pub(super) fn is_resting(&self, now_s: f64) -> bool {
        let plays = !self.layers.is_empty() || !self.goals.is_empty() || self.springs.is_on();
        !plays && self.inertialised_at(self.clock.local_s(now_s)).is_none()
    }

    /// Its version, while its pose does not change.
    pub(super) fn still_version(&self, now_s: f64) -> Option<u32> {
        if self.springs.is_on() {
            return None;
        }
        let still = self.clock.stands() || self.clock.local_s(now_s) >= self.still_from_s;
        still.then_some(self.version)
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Actors {
    pub(super) list: Vec<ActorState>,
    pub(super) free: Vec<u32>,
    /// By actor.
    pub(super) eras: Vec<Eras>,
    /// By actor: contains it in every pose of what it plays. Frames read this of all that moved, so
    /// it is apart from the rest.
    pub(super) spheres: Vec<Sphere>,
}

impl Actors {
    pub(super) fn reserve(&mut self, count: usize) {
        reserve_all(&mut self.list, count);
        reserve_all(&mut self.free, count);
        reserve_all(&mut self.eras, count);
        reserve_all(&mut self.spheres, count);
    }

    pub(super) fn len(&self) -> usize {
        self.list.len() - self.free.len()
    }

    pub(super) fn add(&mut self, now_s: f64) -> ActorId {
        let index = self.free.pop().unwrap_or(self.list.len() as u32);
        match self.list.get_mut(index as usize) {
            Some(actor) => actor.renew(actor.generation, now_s),
            None => {
                self.list.push(ActorState::new(0, now_s));
                self.eras.push(Eras::default());
                self.spheres.push(Sphere::EMPTY);
            }
        }
        let generation = self[index].generation;
        ActorId { index, generation }
    }

    pub(super) fn remove(&mut self, index: u32) {
        let actor = &mut self[index];
        actor.renew(actor.generation.wrapping_add(1), 0.0);
        actor.alive = false;
        self.free.push(index);
    }

    pub(super) fn check(&self, id: ActorId) -> Result<()> {
        let index = id.index as usize;
        expect_index("actor", index, self.list.len())?;
        let actor = &self.list[index];
        if actor.alive && actor.generation == id.generation {
            return Ok(());
        }
        Err(Error::Stale {
            what: "actor",
            index: id.index,
            generation: id.generation,
            alive: actor.generation,
        })
    }

    pub(super) fn id(&self, index: u32) -> Option<ActorId> {
        self.list.get(index as usize)?.id(index)
    }

    pub(super) fn ids(&self) -> impl ExactSizeIterator<Item = ActorId> + '_ {
        Ids {
            ids: (0..self.list.len() as u32).filter_map(|index| self.id(index)),
            left: self.len(),
        }
    }
}

// The list never shrinks, so the index of an actor that was ever alive is in it.
impl Index<u32> for Actors {
    type Output = ActorState;

    #[inline]
    fn index(&self, index: u32) -> &ActorState {
        &self.list[index as usize]
    }
}

impl IndexMut<u32> for Actors {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut ActorState {
        &mut self.list[index as usize]
    }
}
