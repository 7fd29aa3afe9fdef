//! Snapshots: everything that decides the future of actors, as plain data.

#[cfg(feature = "vulkan")]
use super::ActorId;
use super::actors::ActorState;
use super::edits::Saved;
use super::event::{AnimationEventKind, EventQueue};
use super::library::Fingerprint;
use super::state::{BlendPlay, MOST, OwnPose};
use super::times::check_time;
use super::work::Place;
use super::{Actor, Animator, PlayRecord};
use crate::clip::components;
use crate::error::{
    Error, Result, expect_cap, expect_extent, expect_finite, expect_index, expect_len,
    expect_transform,
};
use crate::id::Id;
use crate::state_machine::StateDesc;
use core::ops::Deref;
use std::sync::Arc;

/// All actors of an [`Animator`] at a moment: ids, what they play, and everything else that decides
/// their future.
///
/// It is plain data, which serde can read and write with the feature `serde`. Use it for saved
/// games, for replays, and for rollback: [`Animator::snapshot_into`] and [`Animator::restore`]
/// reuse memory, so a ring of snapshots allocates nothing once it has held all that it will hold.
///
/// After a restore, the same calls have the same results, bit for bit: poses, events, root motion,
/// states and ids. A snapshot fits every animator of the same character. Joints, clips, masks,
/// blend spaces, event names, expressions, morph weights, spring bones and the state machine must
/// have the same names in the same order. Durations, curves and meshes may differ.
///
/// It does not have the solvers of the animator, only the targets of actors for them. Add the same
/// solvers in the same order before a restore.
///
/// With `serde_json`, enable its feature `float_roundtrip`, or the last bits of numbers change.
/// Numbers that are not finite cannot be written as JSON. They occur only after calls with extreme
/// values, such as a speed of 10³⁰⁰.
///
/// ```
/// use throng::animator::{Animator, AnimatorSnapshot, Play};
///
/// let character = throng::builtin::mannequin()?;
/// let mut animator = Animator::new(&character)?;
/// let guard = animator.add("Walk")?;
/// let mut ring: [AnimatorSnapshot; 8] = Default::default();
/// for frame in 0..60 {
///     animator.snapshot_into(&mut ring[frame % 8]);
///     animator.update(frame as f64 / 60.0)?;
/// }
/// // A message from eight frames ago arrives: go back, and run these frames again.
/// animator.restore(&ring[52 % 8])?;
/// animator.actor_mut(guard)?.play(Play::new("Run").fade_s(0.2))?;
/// for frame in 52..60 {
///     animator.update(frame as f64 / 60.0)?;
/// }
/// assert_eq!(animator.actor(guard)?.playing().count(), 2);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[doc(alias("save", "saved game", "rollback", "replay"))]
pub struct AnimatorSnapshot {
    pub(super) rows: Rows,
    /// The indices of the next actors, last first.
    pub(super) free: Vec<u32>,
}

/// One actor of an [`Animator`] at a moment. See [`AnimatorSnapshot`].
///
/// It can be restored to any actor of any animator of the same character. The actor goes on from
/// where it was, whatever the animator's time is then.
///
/// ```
/// use throng::animator::{Animator, Play};
///
/// let character = throng::builtin::mannequin()?;
/// let mut animator = Animator::new(&character)?;
/// let guard = animator.add("Walk")?;
/// animator.update(0.4)?;
/// let saved = animator.actor(guard)?.snapshot();
///
/// let mut other = Animator::new(&character)?;
/// other.update(1000.0)?;
/// let guard = other.add(Play::REST)?;
/// other.actor_mut(guard)?.restore(&saved)?;
/// assert_eq!(other.actor(guard)?.playing().next().unwrap().time_s, 0.4);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ActorSnapshot {
    pub(super) rows: Rows,
}

/// Actors with what they play.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Rows {
    /// The moment in the life of the animator that it was taken of.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) saved: Option<Saved>,
    fingerprint: Fingerprint,
    pub(super) now_s: f64,
    /// The actors, without their memory.
    pub(super) list: Vec<ActorState>,
    /// By actor, when it wakes, for rollbacks.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) wakes_s: Vec<f64>,
    /// By actor: the numbers of records and of blend spaces that are its own.
    counts: Vec<[u16; 2]>,
    /// The records of all actors, one after the other.
    pub(super) records: Vec<PlayRecord>,
    /// The blend spaces of all actors, one after the other.
    blends: Vec<BlendPlay>,
    pub(super) queue: EventQueue,
}

#[cfg(feature = "vulkan")]
impl ActorSnapshot {
    pub(crate) fn set_transform(&mut self, world: &glam::Affine3A) {
        for actor in &mut self.rows.list {
            actor.world = (*world).into();
        }
    }
}

impl Rows {
    /// Empties it for `count` actors of an animator, and keeps the memory.
    fn begin(&mut self, of: &Animator, count: usize) {
        (self.fingerprint, self.now_s) = (of.library.fingerprint, of.now_s);
        self.saved = of.edits.save();
        self.list.resize_with(count, ActorState::default);
        self.counts.resize(count, [0; 2]);
        self.wakes_s.resize(count, f64::INFINITY);
        self.records.clear();
        self.blends.clear();
    }

    fn set(&mut self, at: usize, of: &Animator, index: u32) {
        let state = &of.actors[index];
        let (Some(own), Some(counts)) = (self.list.get_mut(at), self.counts.get_mut(at)) else {
            return;
        };
        let before = [self.records.len(), self.blends.len()];
        self.records
            .extend_from_slice(state.layers.records(&of.pools));
        self.blends.extend(state.layers.blends(&of.pools));
        let after = [self.records.len(), self.blends.len()];
        *counts = [0, 1].map(|kind| (after[kind] - before[kind]) as u16);
        if let Some(wakes_s) = self.wakes_s.get_mut(at) {
            *wakes_s = of.schedule.wake.time_s(index);
        }
        own.take_over_all(state);
    }

    /// The rows, and where their records and blend spaces are.
    pub(super) fn places(&self) -> impl Iterator<Item = Place> + '_ {
        let mut next = [0, 0];
        (0..).zip(&self.counts).map(move |(actor, counts)| {
            let [records, blends] = next;
            next = [0, 1].map(|kind| next[kind] + u32::from(counts[kind]));
            Place {
                actor,
                records,
                blends,
            }
        })
    }

    /// The records and the blend spaces of a row.
    pub(super) fn own(&self, place: &Place) -> (&[PlayRecord], &[BlendPlay]) {
        let counts = self.counts.get(place.actor as usize).copied();
        let [records, blends] = counts.unwrap_or_default().map(usize::from);
        let all = self.records.get(place.records as usize..);
        let all_blends = self.blends.get(place.blends as usize..);
        (
            all.and_then(|all| all.get(..records)).unwrap_or_default(),
            all_blends
                .and_then(|all| all.get(..blends))
                .unwrap_or_default(),
        )
    }

    /// Calls `each` with each row, its number, its records and its blend spaces.
    ///
    /// # Errors
    /// [`Error::Argument`] if the counts of the rows are not those of the lists, and what `each`
    /// returns, with the number of the row.
    pub(super) fn for_each(
        &self,
        mut each: impl FnMut(usize, &ActorState, &[PlayRecord], &[BlendPlay]) -> Result<()>,
    ) -> Result<()> {
        let (mut records, mut blends) = (&*self.records, &*self.blends);
        let missing = || Error::invalid("snapshot", "has not as many records as its actors play");
        expect_len("snapshot", self.counts.len(), self.list.len())?;
        for (number, (state, counts)) in self.list.iter().zip(&self.counts).enumerate() {
            let counts = counts.map(usize::from);
            let (own, others) = records.split_at_checked(counts[0]).ok_or_else(missing)?;
            let (plays, rest) = blends.split_at_checked(counts[1]).ok_or_else(missing)?;
            (records, blends) = (others, rest);
            each(number, state, own, plays).map_err(|why| why.at("actor", number))?;
        }
        if records.is_empty() && blends.is_empty() {
            Ok(())
        } else {
            Err(missing())
        }
    }
}

#[cfg(feature = "vulkan")]
impl AnimatorSnapshot {
    /// A snapshot without actors at a time.
    pub(crate) fn empty(now_s: f64) -> Self {
        let mut empty = Self::default();
        empty.rows.now_s = now_s;
        empty
    }

    /// The id of the living actor at an index.
    pub(crate) fn actor(&self, index: u32) -> Option<ActorId> {
        self.rows.list.get(index as usize)?.id(index)
    }

    /// The number of actors.
    pub(crate) fn len(&self) -> usize {
        self.rows.list.len().saturating_sub(self.free.len())
    }
}

/// Save and restore.
impl Animator {
    /// Saves all actors. See [`AnimatorSnapshot`].
    #[must_use]
    pub fn snapshot(&self) -> AnimatorSnapshot {
        let mut snapshot = AnimatorSnapshot::default();
        self.snapshot_into(&mut snapshot);
        snapshot
    }

    /// Saves all actors, and reuses the memory of an earlier snapshot.
    pub fn snapshot_into(&self, to: &mut AnimatorSnapshot) {
        to.rows.begin(self, self.actors.list.len());
        for index in 0..self.actors.list.len() {
            to.rows.set(index, self, index as u32);
        }
        to.rows.queue.clone_from(&self.queue);
        to.free.clone_from(&self.actors.free);
    }

    /// Brings all actors back to a snapshot, of this or another animator of the same character.
    ///
    /// Ids, time and the events of the last update are then those of the snapshot. An actor that
    /// was added since is gone. The next actors get the ids that they would have got then, so ids
    /// of the time that was undone can name others.
    ///
    /// Threads and solvers stay.
    ///
    /// # Time
    /// The animator's time ([`Self::now_s`]) is then that of the snapshot. Let the clock that
    /// [`Self::update`] gets go on from there: set it to `now_s`, and add the length of each step
    /// as before. If it does not, the next update plays everything between the two times at once,
    /// with all events. To go on at another time of the clock, restore the actors one by one with
    /// [`Actor::restore`], which moves them to the animator's present.
    ///
    /// # Errors
    /// If there is an error, nothing changes.
    ///
    /// - [`Error::Argument`] with [`OtherCharacter`](crate::error::ArgumentFault::OtherCharacter)
    ///   if the snapshot is of another character.
    /// - [`Error::At`] with the actor and what it has that does not fit: data that was altered, a
    ///   target for a solver that does not exist, or a pose that this crowd's palettes cannot
    ///   represent.
    pub fn restore(&mut self, from: &AnimatorSnapshot) -> Result<()> {
        self.check(from)?;
        self.restore_checked(from, None);
        Ok(())
    }

    /// Checks everything about a snapshot.
    pub(crate) fn check(&mut self, from: &AnimatorSnapshot) -> Result<()> {
        if self.edits.since(from.rows.saved).is_some() {
            // It has made the snapshot itself, and nobody can alter that.
            return Ok(());
        }
        self.check_rows(&from.rows)?;
        let list = &from.rows.list;
        let is_dead = |at: &u32| {
            list.get(*at as usize)
                .is_some_and(|actor| !actor.is_alive())
        };
        let dead = list.iter().filter(|actor| !actor.is_alive()).count();
        // The next update fills this list anew.
        let free = &mut self.schedule.due;
        free.clone_from(&from.free);
        free.sort_unstable();
        free.dedup();
        if from.free.len() == dead && free.len() == dead && free.iter().all(is_dead) {
            Ok(())
        } else {
            Err(Error::invalid(
                "snapshot",
                "has a wrong list of free indices",
            ))
        }
    }

    fn check_rows(&mut self, rows: &Rows) -> Result<()> {
        rows.fingerprint.check(&self.library.fingerprint)?;
        check_time(rows.now_s)?;
        for event in rows.queue.all() {
            self.check_event(event.kind, event.layer)
                .map_err(|why| why.at("event of actor", event.id.index as usize))?;
            expect_finite("time of an event", event.time_s)?;
            expect_finite("weight of an event", event.weight)?;
        }
        rows.for_each(|_, state, records, blends| self.check_actor(state, records, blends))
    }

    fn check_event(&self, kind: AnimationEventKind, layer: u8) -> Result<()> {
        let (clips, names) = (self.library.clips.len(), self.library.set.event_names.len());
        match kind {
            AnimationEventKind::Clip { clip, event } => {
                expect_index("clip", clip.index(), clips)?;
                expect_index("event", event.index(), names)
            }
            AnimationEventKind::Finished { clip, state } => {
                expect_index("clip", clip.index(), clips)?;
                state.map_or(Ok(()), |state| self.check_state(layer, state))
            }
            AnimationEventKind::Left { state } | AnimationEventKind::Entered { state } => {
                self.check_state(layer, state)
            }
        }
    }

    fn check_state(&self, layer: u8, state: Id<StateDesc>) -> Result<()> {
        let states = self.library.expect_state_machine()?.state_count(layer);
        expect_index("state", state.index(), states)
    }

    fn check_actor(
        &mut self,
        state: &ActorState,
        records: &[PlayRecord],
        blends: &[BlendPlay],
    ) -> Result<()> {
        let library = Arc::clone(&self.library);
        let library = &*library;
        state.clock.check()?;
        expect_finite("time of the actor", state.passed_s)?;
        expect_cap("play records", records.len(), MOST as usize)?;
        for (number, record) in records.iter().enumerate() {
            library
                .check_record(record)
                .map_err(|why| why.at("play record", number))?;
        }
        if !records.is_sorted_by_key(|record| record.layer) {
            return Err(Error::invalid("play records", "must ascend by layer"));
        }
        let shows = records
            .iter()
            .any(|record| record.has(PlayRecord::FLAG_POSE));
        if shows && state.own_pose.is_none() {
            return Err(Error::invalid(
                "play records",
                "show a pose that the actor does not have",
            ));
        }
        let mut numbers = 0_u8;
        for (number, play) in blends.iter().enumerate() {
            play.check(library)
                .map_err(|why| why.at("playing blend space", number))?;
            if numbers >> play.number & 1 != 0 {
                return Err(Error::invalid("numbers of blend spaces", "must differ"));
            }
            numbers |= 1 << play.number;
        }
        if let Some(root) = &state.root {
            root.check()?;
        }
        if let Some(driver) = &state.driver {
            driver.check(library.expect_state_machine()?)?;
        }
        if let Some(own) = &state.own_pose {
            self.check_own(own)?;
        }
        if let Some(transition) = &state.inertialisation {
            transition.check(library.skeleton.len(), library.morph_weights.len())?;
        }
        state.goals.check(&self.solvers)?;
        if let Some(weights) = &state.weights {
            weights.check(library)?;
        }
        state.springs.check(&library.springs)?;
        expect_transform("world_from_model", &state.world.into())
    }

    /// Checks a pose that was set for this character or for another one.
    pub(super) fn check_own(&mut self, own: &OwnPose) -> Result<()> {
        own.check(self.library.skeleton.len())?;
        for joint in own.local() {
            expect_extent("local pose", components(joint))?;
        }
        match own.model() {
            Some(model) => self.check_fit(model),
            None => self.check_fit_of_local(own.local()),
        }
    }
}

impl<A: Deref<Target = Animator>> Actor<A> {
    /// Saves the actor. See [`ActorSnapshot`].
    #[must_use]
    pub fn snapshot(&self) -> ActorSnapshot {
        let (mut snapshot, animator) = (ActorSnapshot::default(), &*self.animator);
        snapshot.rows.begin(animator, 1);
        snapshot.rows.set(0, animator, self.id().index);
        animator
            .queue
            .copy_early(self.id(), &mut snapshot.rows.queue);
        snapshot
    }
}

impl Actor<&mut Animator> {
    /// Brings the actor to a snapshot of this or another actor of the same character.
    ///
    /// It keeps its id. Its own time, and with it everything that it plays, goes on from the moment
    /// of the snapshot.
    ///
    /// # Errors
    /// The same as [`Animator::restore`]. The actor is unchanged then.
    pub fn restore(&mut self, from: &ActorSnapshot) -> Result<()> {
        self.animator.check_one(from)?;
        self.animator.restore_one(self.id().index, from, None);
        Ok(())
    }
}

/// For a crowd, too.
impl Animator {
    /// Checks everything about a snapshot of one actor.
    pub(crate) fn check_one(&mut self, from: &ActorSnapshot) -> Result<()> {
        self.check_rows(&from.rows)?;
        expect_len("actors", from.rows.list.len(), 1)
    }
}
