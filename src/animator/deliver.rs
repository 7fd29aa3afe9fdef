//! Effects of a record that plays: events, the end of the clip, root motion.

use super::event::{AnimationEvent, AnimationEventKind, EventQueue, MOST_OF_RECORD};
use super::library::Library;
use super::name_or_id::ActorId;
use super::record::PlayRecord;
use super::state::{Clock, Step};
use crate::animator::record::RecordSpan;
use crate::id::Id;
use crate::motion::LoopMode;
use crate::state_machine::{DrivenClip, StateDesc};

/// Collects the events and the root motion of one actor.
pub(crate) struct Sink<'a> {
    pub(crate) actor: ActorId,
    pub(crate) clock: Clock,
    pub(crate) now_s: f64,
    pub(crate) queue: &'a mut EventQueue,
    /// False if nobody hears its events.
    pub(crate) delivers: bool,
    /// The root motion of the update, if the actor uses it.
    pub(crate) step: Option<&'a mut Step>,
}

impl Sink<'_> {
    fn push(&mut self, kind: AnimationEventKind, layer: u8, weight: f32, local_s: f64) {
        if !self.delivers {
            return;
        }
        self.queue.push(AnimationEvent {
            id: self.actor,
            time_s: self.clock.event_s(local_s, self.now_s),
            weight,
            layer,
            kind,
            order: 0,
            character: 0,
        });
    }

    pub(crate) fn entered(&mut self, layer: u8, state: Id<StateDesc>, local_s: f64) {
        self.push(AnimationEventKind::Entered { state }, layer, 1.0, local_s);
    }

    pub(crate) fn left(&mut self, layer: u8, state: Id<StateDesc>, local_s: f64) {
        self.push(AnimationEventKind::Left { state }, layer, 1.0, local_s);
    }

    /// The state of a layer has ended, with this clip.
    pub(crate) fn finished(&mut self, clip: &DrivenClip, state: Id<StateDesc>, local_s: f64) {
        let kind = AnimationEventKind::Finished {
            clip: clip.clip,
            state: Some(state),
        };
        self.push(kind, clip.layer, clip.weight.at(local_s), local_s);
    }

    /// Delivers the events that a record passes. Returns the flags that it has afterwards.
    pub(crate) fn pass(&mut self, library: &Library, span: &RecordSpan) -> u8 {
        let Some(turn_s) = span.turn_s() else {
            return self.pass_one_way(library, span);
        };
        let mut second = *span;
        let to_s = turn_s;
        second.record.flags = self.pass_one_way(library, &RecordSpan { to_s, ..*span });
        second.from_s = turn_s;
        self.pass_one_way(library, &second)
    }

    /// The same as [`Self::pass`], for an interval in which the clip does not reverse.
    fn pass_one_way(&mut self, library: &Library, span: &RecordSpan) -> u8 {
        let record = &span.record;
        let mut flags = record.flags;
        // If no time passes, nothing happens: a clip that is paused at its end finishes later.
        let nothing = span.to_s <= span.from_s || span.to_s.is_nan();
        if record.has(PlayRecord::FLAG_POSE) || nothing {
            return flags;
        }
        let spans = span.unwrapped_s(library.duration_s(record.clip));
        if let Some(step) = &mut self.step {
            step.add(library, span, spans);
        }
        if spans[0] != spans[1] {
            if self.delivers {
                self.deliver(library, span, spans);
            }
            flags |= PlayRecord::FLAG_STARTED;
        }
        if !record.has(PlayRecord::FLAG_STATE_MACHINE | PlayRecord::FLAG_FINISHED)
            && let Some(end_s) = finish_s(library, record, span.from_s)
            && end_s <= span.to_s
        {
            let clip = Id::new(record.clip);
            let (kind, weight) = (
                AnimationEventKind::Finished { clip, state: None },
                record.weight_at(end_s),
            );
            self.push(kind, record.layer, weight, end_s);
            flags |= PlayRecord::FLAG_FINISHED;
        }
        flags
    }

    fn deliver(&mut self, library: &Library, span: &RecordSpan, [from, to]: [f64; 2]) {
        let record = &span.record;
        let Some(events) = library.events(record.clip) else {
            return;
        };
        let started = record.has(PlayRecord::FLAG_STARTED);
        let mut passed = events.passed([from, to], record.loop_mode(), started);
        self.queue.leave_out(passed.limit(MOST_OF_RECORD));
        for (event, unwrapped_s) in passed {
            let time_s = span.time_of(unwrapped_s);
            let kind = AnimationEventKind::Clip {
                clip: Id::new(record.clip),
                event: Id::new(event.name),
            };
            self.push(kind, record.layer, record.weight_at(time_s), time_s);
        }
    }
}

/// The time at which a clip that plays once ends, not before `since_s`.
pub(super) fn finish_s(library: &Library, record: &PlayRecord, since_s: f64) -> Option<f64> {
    if record.loop_mode() != LoopMode::Once || record.to_speed == 0.0 {
        return None;
    }
    if record.is_changing_speed(since_s) {
        return None;
    }
    let duration_s = library.duration_s(record.clip);
    let end = if record.to_speed > 0.0 {
        duration_s
    } else {
        0.0
    };
    let beyond = (record.unwrapped_s(since_s) - end) * record.to_speed;
    let time_s = if beyond >= 0.0 {
        since_s
    } else {
        record.time_of(end, since_s)
    };
    time_s.is_finite().then_some(time_s)
}

/// The time after `local_s` at which a record must next be visited, in the actor's time. `delivers`
/// is false if nobody hears its events.
pub(crate) fn next_s(library: &Library, record: &PlayRecord, local_s: f64, delivers: bool) -> f64 {
    if record.has(PlayRecord::FLAG_POSE) || !delivers {
        return removal_s(record);
    }
    let events = library.events(record.clip);
    let may_finish = record.loop_mode() == LoopMode::Once && !record.has(PlayRecord::FLAG_FINISHED);
    if record.is_changing_speed(local_s) && (events.is_some() || may_finish) {
        return local_s;
    }
    let mut next_s = removal_s(record);
    if !record.has(PlayRecord::FLAG_STATE_MACHINE | PlayRecord::FLAG_FINISHED)
        && let Some(end_s) = finish_s(library, record, local_s)
    {
        next_s = next_s.min(end_s);
    }
    if let Some(events) = events
        && record.to_speed != 0.0
    {
        let (from, mode) = (record.unwrapped_s(local_s), record.loop_mode());
        let (backward, started) = (record.to_speed < 0.0, record.has(PlayRecord::FLAG_STARTED));
        if let Some(unwrapped_s) = events.next_from(from, backward, mode, started) {
            next_s = next_s.min(record.time_of(unwrapped_s, local_s));
        }
    }
    next_s
}

/// The time at which the record has faded out and can be removed.
fn removal_s(record: &PlayRecord) -> f64 {
    if record.to_weight == 0.0 && !record.has(PlayRecord::FLAG_STATE_MACHINE) {
        record.fade_end_s()
    } else {
        f64::INFINITY
    }
}
