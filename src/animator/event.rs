//! What happened to actors during an update.

use super::ActorId;
use crate::ids::{ClipId, EventId, StateId};

/// Something that happened to an actor, to the instant and not to the frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnimationEvent {
    /// To whom.
    pub actor: ActorId,
    /// When, in seconds of the animator's time.
    pub time_s: f64,
    /// The weight that the clip had then in its layer; 1 for states.
    pub weight: f32,
    /// The layer on which it happened.
    pub layer: u8,
    /// What happened.
    pub kind: AnimationEventKind,
    /// Its number among those that an update found.
    pub(crate) order: u32,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AnimationEventKind {
    /// A clip passed one of its events.
    /// [`Animator::event_name`](super::instances::Animator::event_name) has its name.
    Clip {
        /// The clip.
        clip: ClipId,
        /// Which event, by its name; clips may share it.
        event: EventId,
    },
    /// A clip that plays once came to its end.
    Finished {
        /// The clip.
        clip: ClipId,
    },
    /// The state machine left a state, which may go on to be seen while it fades out.
    Left {
        /// The state, one of its layer.
        state: StateId,
    },
    /// The state machine entered a state.
    Entered {
        /// The state, one of its layer.
        state: StateId,
    },
}

/// The events of an update, and those that are to come with the next one.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    events: Vec<AnimationEvent>,
    /// Found between updates.
    early: Vec<AnimationEvent>,
    left_out: u64,
    early_left_out: u64,
}

/// The most events that one record delivers in one update. A clip with a hundred events a second
/// reaches it in ten seconds.
pub(crate) const MOST_OF_RECORD: usize = 1024;

impl EventQueue {
    pub(crate) fn with_capacity(events: usize) -> Self {
        Self {
            events: Vec::with_capacity(events),
            early: Vec::with_capacity(events.min(64)),
            ..Self::default()
        }
    }

    /// Begins an update.
    pub(crate) fn begin(&mut self) {
        self.events.clear();
        for event in self.early.drain(..) {
            let order = self.events.len() as u32;
            self.events.push(AnimationEvent { order, ..event });
        }
        self.left_out = core::mem::take(&mut self.early_left_out);
    }

    /// Ends an update: all that happened, in order of time.
    pub(crate) fn end(&mut self) {
        let key = |event: &AnimationEvent| (event.actor.index, event.layer, event.order);
        // In place, so nothing is allocated.
        self.events.sort_unstable_by(|a, b| {
            a.time_s
                .total_cmp(&b.time_s)
                .then_with(|| key(a).cmp(&key(b)))
        });
    }

    /// Keeps what was found between updates for the next one.
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
