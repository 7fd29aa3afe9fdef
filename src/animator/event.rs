//! Animation events: the things that happened to actors during an update.

use super::name_or_id::ActorId;
use crate::character::EventDesc;
use crate::clip::Clip;
use crate::clone::clone_fields;
use crate::grow::reserve_all;
use crate::id::Id;
use crate::state_machine::StateDesc;

/// Something that happened to an actor or an instance, with its exact time.
///
/// Events of an update are in order of time. Events of one time are in order of actor and layer,
/// and on a layer in the order in which they happen: what clips pass, then `Finished`, then `Left`
/// and `Entered`. So a transition with an exit time of 1 leaves a state after it has finished.
///
/// `Id` is [`ActorId`] in events of an [`Animator`](super::Animator), and `InstanceId`
/// in events of a `Crowd`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AnimationEvent<Id = ActorId> {
    /// The actor or instance that it happened to.
    pub id: Id,
    /// The time of the event itself, not of a frame, in seconds of the animator's time.
    pub time_s: f64,
    /// The weight of the clip in its layer at that time. 1 for states.
    pub weight: f32,
    /// The layer on which it happened.
    pub layer: u8,
    /// The kind of event.
    pub kind: AnimationEventKind,
    /// Its position in the order in which the update found the events, later among all of them.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) order: u32,
    /// In events of a crowd, the index of the character, so that the event has a name even if its
    /// instance has been despawned since.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) character: u32,
}

impl AnimationEvent {
    /// The same event of an instance of a crowd's character.
    #[cfg(feature = "vulkan")]
    pub(crate) fn of_instance<Id>(&self, id: Id, character: u32) -> AnimationEvent<Id> {
        AnimationEvent {
            id,
            time_s: self.time_s,
            weight: self.weight,
            layer: self.layer,
            kind: self.kind,
            order: self.order,
            character,
        }
    }
}

/// The kind of an animation event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum AnimationEventKind {
    /// A clip's time passed one of its events.
    ///
    /// [`Animator::event_name`](super::Animator::event_name) returns its name, and
    /// [`Character::events`](crate::character::Character::events) all events of a clip.
    ///
    /// # When an event is delivered
    /// An event at `t` of a clip of duration `D` lies at the points `k·D + t` of unwrapped clip
    /// time (see [`LoopMode`](crate::motion::LoopMode)).
    ///
    /// - *Forward*: a step from `a` to `b` delivers the points in `(a, b]`, in ascending order.
    /// - *Backward*: it delivers the points in `[b, a)`, in descending order.
    /// - So consecutive steps deliver each point once, whatever their lengths. A step of length 0
    ///   delivers nothing. Reversing on a point does not deliver it again.
    /// - *The first step of a play* includes its start: an event at 0 is delivered if the clip
    ///   starts at 0.
    /// - `LoopMode::Loop`: an event at 0 and an event at the duration are two events at one point,
    ///   the seam. Reaching the seam delivers both. Forward, those at the duration (of the cycle
    ///   that ends) come before those at 0 (of the cycle that begins). Backward, it is the other
    ///   way round. A first step that starts on the seam delivers only those of the cycle that it
    ///   enters.
    /// - `LoopMode::Once`: there is one cycle, and time continues outside of it. An event at 0 or
    ///   at the duration is delivered when time reaches it, and not again while the pose is held.
    /// - `LoopMode::PingPong`: odd cycles are played backward. An event at a turning point is a
    ///   single point and is delivered once. It belongs to the cycle that begins there.
    ///
    /// The points are computed in `f64`, always in the same way, and compared exactly. So no event
    /// is lost or delivered twice because of rounding.
    Clip {
        /// The clip.
        clip: Id<Clip>,
        /// The event, identified by its name. Several clips may have an event of one name.
        event: Id<EventDesc>,
    },
    /// A clip that plays once reached its end, or a state that plays once did.
    ///
    /// A state finishes at the time at which an exit time of 1 is met: at phase 1, or at phase 0 if
    /// it plays backwards. It finishes once, and again if it is entered again, or if its speed
    /// changes its sign and it reaches its other end. A state that is left before does not finish,
    /// nor one that stands, or plays no clip. Of a blend, the clip with the most weight is named.
    Finished {
        /// The clip.
        clip: Id<Clip>,
        /// The state that plays it, among those of its layer. `None` for what the caller plays.
        state: Option<Id<StateDesc>>,
    },
    /// The state machine left a state. The state may stay visible while it fades out.
    Left {
        /// The state, among those of its layer.
        state: Id<StateDesc>,
    },
    /// The state machine entered a state.
    Entered {
        /// The state, among those of its layer.
        state: Id<StateDesc>,
    },
}

/// The events of an update, and those already found for the next one.
#[derive(Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct EventQueue {
    events: Vec<AnimationEvent>,
    /// Events that were found between updates.
    early: Vec<AnimationEvent>,
    left_out: u64,
    early_left_out: u64,
}

clone_fields! {
    EventQueue { events, early, left_out, early_left_out }
}

/// The most events that one record delivers in one update.
///
/// A clip with a hundred events a second reaches it in about ten seconds.
pub(crate) const MOST_OF_RECORD: usize = 1024;

impl EventQueue {
    /// Reserves memory for this many events of one update.
    pub(crate) fn reserve(&mut self, events: usize) {
        reserve_all(&mut self.events, events);
        reserve_all(&mut self.early, events.min(64));
    }

    pub(crate) fn begin(&mut self) {
        self.events.clear();
        for event in self.early.drain(..) {
            let order = self.events.len() as u32;
            self.events.push(AnimationEvent { order, ..event });
        }
        self.left_out = core::mem::take(&mut self.early_left_out);
    }

    /// Ends an update: sorts all its events by time.
    pub(crate) fn end(&mut self) {
        let key = |event: &AnimationEvent| (event.id.index, event.layer, event.order);
        // An unstable sort works in place, so nothing is allocated.
        self.events.sort_unstable_by(|a, b| {
            a.time_s
                .total_cmp(&b.time_s)
                .then_with(|| key(a).cmp(&key(b)))
        });
        self.number();
    }

    /// Numbers the sorted events, so that they do not depend on the order of visits.
    fn number(&mut self) {
        for (order, event) in (0..).zip(&mut self.events) {
            event.order = order;
        }
    }

    /// Takes over the events of a snapshot.
    pub(crate) fn restore(&mut self, from: &Self) {
        self.clone_from(from);
        self.number();
    }

    /// Copies the events of an actor that the next update delivers.
    pub(crate) fn copy_early(&self, of: ActorId, to: &mut Self) {
        let early = self.early.iter().filter(|event| event.id == of);
        to.early.clear();
        to.early.extend(early);
    }

    /// Replaces the events of an actor that the next update delivers, by those of a snapshot that
    /// was taken at `then_s`.
    pub(crate) fn replace_early(&mut self, of: ActorId, from: &Self, [then_s, now_s]: [f64; 2]) {
        self.early.retain(|event| event.id != of);
        self.early.extend(from.early.iter().map(|event| {
            let time_s = (event.time_s + (now_s - then_s)).min(now_s);
            AnimationEvent {
                id: of,
                time_s,
                ..*event
            }
        }));
    }

    /// All events, for checks.
    pub(crate) fn all(&self) -> impl Iterator<Item = &AnimationEvent> {
        self.events.iter().chain(&self.early)
    }

    /// Moves events found between updates to the next update.
    pub(crate) fn put_off(&mut self, from: usize, left_out: u64) {
        self.early.extend(self.events.drain(from..));
        let found = self.left_out.saturating_sub(left_out);
        self.early_left_out = self.early_left_out.saturating_add(found);
        self.left_out = left_out;
    }

    pub(crate) fn push(&mut self, mut event: AnimationEvent) {
        event.order = self.events.len() as u32;
        self.events.push(event);
    }

    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    pub(crate) fn leave_out(&mut self, count: u64) {
        self.left_out = self.left_out.saturating_add(count);
    }

    pub(crate) fn events(&self) -> &[AnimationEvent] {
        &self.events
    }

    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }
}
