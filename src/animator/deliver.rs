//! Effects of a record that plays: events, the end of the clip, root motion.

use super::ActorId;
use super::clock::Clock;
use super::event::{AnimationEvent, AnimationEventKind, EventQueue, MOST_OF_RECORD};
use super::library::Library;
use super::record::{FLAG_FINISHED, FLAG_POSE, FLAG_STARTED, FLAG_STATE_MACHINE, PlayRecord};
use super::root::Step;
use crate::ids::{ClipId, EventId, StateId};
use crate::motion::LoopMode;

/// A record, and an interval of the actor's time during which it plays.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passing {
    pub(crate) record: PlayRecord,
    pub(crate) from_s: f64,
    pub(crate) to_s: f64,
}

impl Passing {
    pub(crate) fn new(record: PlayRecord, [from_s, to_s]: [f64; 2]) -> Self {
        // A record stops playing when it has faded out. A state machine itself says until when a
        // clip plays, and does not round its fades to `f32`.
        let bound = !record.has(FLAG_STATE_MACHINE) || record.from_weight == 0.0;
        let end_s = if record.to_weight == 0.0 && bound {
            record.fade_end_s().max(from_s)
        } else {
            f64::INFINITY
        };
        Self {
            record,
            from_s,
            to_s: to_s.min(end_s),
        }
    }

    /// The time at which the clip reverses within the interval, if its speed crosses 0.
    fn turn_s(&self) -> Option<f64> {
        let record = &self.record;
        let rises = record.to_speed > record.from_speed;
        let turns = record.from_speed.min(record.to_speed) < 0.0
            && record.from_speed.max(record.to_speed) > 0.0;
        let ramp_end_s = record.anchor_s + f64::from(record.speed_ramp_s);
        let mut low = self.from_s.max(record.anchor_s);
        let mut high = self.to_s.min(ramp_end_s);
        let is_after = |time_s: f64| (record.speed_at(time_s) > 0.0) == rises;
        if !turns || low >= high || is_after(low) || !is_after(high) {
            return None;
        }
        for _ in 0..60 {
            let middle = low + 0.5 * (high - low);
            if is_after(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        (self.from_s < high && high < self.to_s).then_some(high)
    }

    /// The time within the interval at which unwrapped clip time is `unwrapped_s`.
    fn time_of(&self, unwrapped_s: f64) -> f64 {
        let record = &self.record;
        if record.from_speed == record.to_speed {
            let time_s = record.time_of(unwrapped_s, self.from_s);
            return time_s.clamp(self.from_s, self.to_s);
        }
        // While the speed changes, bisect: 60 steps are exact to the last bit.
        let (mut low, mut high) = (self.from_s, self.to_s);
        let rises = record.unwrapped_s(high) >= record.unwrapped_s(low);
        for _ in 0..60 {
            let middle = low + 0.5 * (high - low);
            if (record.unwrapped_s(middle) < unwrapped_s) == rises {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }
}

/// Collects the events and the root motion of one actor.
pub(crate) struct Sink<'a> {
    pub(crate) actor: ActorId,
    pub(crate) clock: Clock,
    pub(crate) now_s: f64,
    pub(crate) queue: &'a mut EventQueue,
    /// The root motion of the update, if the actor uses it.
    pub(crate) step: Option<&'a mut Step>,
}

impl Sink<'_> {
    fn push(&mut self, kind: AnimationEventKind, layer: u8, weight: f32, local_s: f64) {
        self.queue.push(AnimationEvent {
            actor: self.actor,
            time_s: self.clock.event_s(local_s, self.now_s),
            weight,
            layer,
            kind,
            order: 0,
        });
    }

    pub(crate) fn entered(&mut self, layer: u8, state: StateId, local_s: f64) {
        self.push(AnimationEventKind::Entered { state }, layer, 1.0, local_s);
    }

    pub(crate) fn left(&mut self, layer: u8, state: StateId, local_s: f64) {
        self.push(AnimationEventKind::Left { state }, layer, 1.0, local_s);
    }

    /// Delivers the events that a record passes. Returns the flags that it has afterwards.
    pub(crate) fn pass(&mut self, library: &Library, passing: &Passing) -> u8 {
        let Some(turn_s) = passing.turn_s() else {
            return self.pass_one_way(library, passing);
        };
        let mut second = *passing;
        let to_s = turn_s;
        second.record.flags = self.pass_one_way(library, &Passing { to_s, ..*passing });
        second.from_s = turn_s;
        self.pass_one_way(library, &second)
    }

    /// The same as [`Self::pass`], for an interval in which the clip does not reverse.
    fn pass_one_way(&mut self, library: &Library, passing: &Passing) -> u8 {
        let record = &passing.record;
        let mut flags = record.flags;
        // If no time passes, nothing happens: a clip that is paused at its end finishes later.
        let nothing = passing.to_s <= passing.from_s || passing.to_s.is_nan();
        if record.has(FLAG_POSE) || nothing {
            return flags;
        }
        let spans = [passing.from_s, passing.to_s].map(|time_s| record.unwrapped_s(time_s));
        if let Some(step) = &mut self.step {
            step.add(library, passing, spans);
        }
        if spans[0] != spans[1] {
            self.deliver(library, passing, spans);
            flags |= FLAG_STARTED;
        }
        if !record.has(FLAG_STATE_MACHINE | FLAG_FINISHED)
            && let Some(end_s) = finish_s(library, record, passing.from_s)
            && end_s <= passing.to_s
        {
            let clip = ClipId(record.clip);
            let weight = record.weight_at(end_s);
            self.push(
                AnimationEventKind::Finished { clip },
                record.layer,
                weight,
                end_s,
            );
            flags |= FLAG_FINISHED;
        }
        flags
    }

    fn deliver(&mut self, library: &Library, passing: &Passing, [from, to]: [f64; 2]) {
        let record = &passing.record;
        let Some(events) = library.events(record.clip) else {
            return;
        };
        let passed = if record.has(FLAG_STARTED) {
            events.passed(from, to, record.loop_mode())
        } else {
            events.passed_from_start(from, to, record.loop_mode())
        };
        let passed = passed.limited(MOST_OF_RECORD);
        self.queue.leave_out(passed.left_out());
        for hit in passed {
            let time_s = passing.time_of(hit.unwrapped_s);
            let kind = AnimationEventKind::Clip {
                clip: ClipId(record.clip),
                event: EventId(hit.name_id as u16),
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

/// The time after `local_s` at which a record must next be visited, in the actor's time.
pub(crate) fn next_s(library: &Library, record: &PlayRecord, local_s: f64) -> f64 {
    if record.has(FLAG_POSE) {
        return removal_s(record);
    }
    let events = library.events(record.clip);
    let may_finish = record.loop_mode() == LoopMode::Once && !record.has(FLAG_FINISHED);
    if record.is_changing_speed(local_s) && (events.is_some() || may_finish) {
        return local_s;
    }
    let mut next_s = removal_s(record);
    if !record.has(FLAG_STATE_MACHINE | FLAG_FINISHED)
        && let Some(end_s) = finish_s(library, record, local_s)
    {
        next_s = next_s.min(end_s);
    }
    if let Some(events) = events
        && record.to_speed != 0.0
    {
        let (from, mode) = (record.unwrapped_s(local_s), record.loop_mode());
        let to = f64::INFINITY.copysign(record.to_speed);
        let mut passed = if record.has(FLAG_STARTED) {
            events.passed(from, to, mode)
        } else {
            events.passed_from_start(from, to, mode)
        };
        if let Some(hit) = passed.next() {
            next_s = next_s.min(record.time_of(hit.unwrapped_s, local_s));
        }
    }
    next_s
}

/// The time at which the record has faded out and can be removed.
fn removal_s(record: &PlayRecord) -> f64 {
    if record.to_weight == 0.0 && !record.has(FLAG_STATE_MACHINE) {
        record.fade_end_s()
    } else {
        f64::INFINITY
    }
}
