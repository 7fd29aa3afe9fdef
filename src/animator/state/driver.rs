//! The state machine of an actor, whose states become play records.

use super::inertialiser::{Inertialiser, Motion};
use super::layers::Mix;
use super::record_pool::MOST;
use crate::animator::deliver::Sink;
use crate::animator::library::Library;
use crate::animator::record::{PlayRecord, RecordSpan};
use crate::clone::clone_fields;
use crate::error::{Error, Result};
use crate::id::Id;
use crate::motion::{Ease, Ramp};
use crate::state_machine::{
    DrivenClip, LayerStatus, ParameterDesc, StateDesc, StateMachine, StateMachineInstance, Taken,
    Value, Watch,
};

/// The state machine of an actor.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Driver {
    state: StateMachineInstance,
    /// Float parameters that are moving to a value.
    damped: Vec<(Id<ParameterDesc>, Ramp)>,
}

clone_fields! {
    Driver { state, damped }
}

impl Driver {
    pub(crate) fn new(machine: &StateMachine, local_s: f64) -> Self {
        Self {
            state: machine.start(local_s),
            damped: Vec::new(),
        }
    }

    /// Goes on in another state machine, by the names of both.
    pub(crate) fn adopt(
        &mut self,
        old: &StateMachine,
        new: &StateMachine,
        lost: &mut dyn FnMut(&'static str, &str),
    ) {
        self.state = new.adopt(old, &self.state, lost);
        self.damped.retain_mut(|(id, _)| {
            let same = new.same_parameter(old, *id);
            *id = same.unwrap_or(*id);
            same.is_some()
        });
    }

    /// Checks data that was saved, so that it can be used like data of this state machine.
    pub(crate) fn check(&self, machine: &StateMachine) -> Result<()> {
        machine.check(&self.state)?;
        self.damped.iter().try_for_each(|(id, ramp)| {
            ramp.check("moving parameter", f32::MAX)?;
            match self.value(machine, *id)? {
                Value::Float(_) => Ok(()),
                _ => Err(Error::invalid("moving parameter", "is not a float")),
            }
        })
    }

    /// Notes that [`Self::check`] has accepted it, so that no call checks it again.
    pub(crate) fn trust(&mut self) {
        self.state.trust();
    }

    pub(crate) fn value(&self, machine: &StateMachine, id: Id<ParameterDesc>) -> Result<Value> {
        machine.value(&self.state, id)
    }

    /// Sets a parameter of any kind. A float stops moving.
    pub(crate) fn set(
        &mut self,
        machine: &StateMachine,
        id: Id<ParameterDesc>,
        value: Value,
    ) -> Result<()> {
        machine.set(&mut self.state, id, value)?;
        self.damped.retain(|(other, _)| *other != id);
        Ok(())
    }

    /// Moves a float parameter linearly to a value, over `over_s` seconds.
    pub(crate) fn set_over(
        &mut self,
        machine: &StateMachine,
        id: Id<ParameterDesc>,
        value: f32,
        [local_s, over_s]: [f64; 2],
    ) -> Result<()> {
        let from = self.value(machine, id)?;
        // This rejects an invalid value at once, and a parameter that is not a float.
        self.set(machine, id, Value::Float(value))?;
        machine.set(&mut self.state, id, from)?;
        if let Value::Float(from) = from {
            let ramp = Ramp::new(from, value, local_s, over_s, Ease::Linear);
            self.damped.push((id, ramp));
        }
        Ok(())
    }

    pub(crate) fn status(
        &self,
        machine: &StateMachine,
        layer: u8,
        local_s: f64,
    ) -> Result<LayerStatus> {
        machine.status(&self.state, layer, local_s)
    }

    /// Sets the moving parameters to their values from `local_s` on.
    fn damp(&mut self, machine: &StateMachine, local_s: f64) {
        for (id, ramp) in &self.damped {
            // The parameter is a float of this machine and the ramp is finite, so there is no
            // error.
            let _ = machine.set(&mut self.state, *id, Value::Float(ramp.stepped(local_s)));
        }
        self.damped
            .retain(|(_, ramp)| ramp.next_step_s(local_s).is_finite());
    }

    /// The time after `since_s` at which a moving parameter next changes. Infinite if none moves.
    fn next_step_s(&self, since_s: f64) -> f64 {
        let steps = self.damped.iter();
        let steps = steps.map(|(_, ramp)| ramp.next_step_s(since_s));
        steps.fold(f64::INFINITY, f64::min)
    }

    /// Advances to `local_s`, and reports to `sink` what happened.
    ///
    /// Inertialised transitions start in `inertialiser`. `records` are all records of the actor
    /// before the update.
    pub(crate) fn advance(
        &mut self,
        library: &Library,
        machine: &StateMachine,
        local_s: f64,
        (sink, inertialiser, records): (&mut Sink<'_>, Inertialiser<'_>, &[PlayRecord]),
    ) {
        let (from_s, local_s) = (self.state.now_s, self.state.valid_time_s(local_s));
        if local_s < from_s {
            // Like fades, parameters go on from where they are.
            let moving = self.damped.iter_mut();
            moving.for_each(|(_, ramp)| ramp.start_s += local_s - from_s);
        } else {
            self.damp(machine, from_s);
        }
        let mut watcher = Watcher {
            library,
            sink,
            inertialiser,
            records,
        };
        let mut step_s = self.next_step_s(from_s);
        while step_s < local_s {
            machine.drive(&mut self.state, step_s, &mut watcher);
            self.damp(machine, step_s);
            step_s = self.next_step_s(step_s);
        }
        machine.drive(&mut self.state, local_s, &mut watcher);
        self.damp(machine, local_s);
    }

    /// Replaces the state machine's records of the actor by those for its present state.
    pub(crate) fn write(&self, machine: &StateMachine, mix: &mut Mix<'_>) {
        // If the clock went back, the machine stays at its own time.
        mix.local_s = self.state.now_s;
        mix.retain_records(|record| !record.has(PlayRecord::FLAG_STATE_MACHINE));
        machine.driven(&self.state, |clip| {
            mix.push(driven_record(mix.library, clip));
        });
    }

    /// The actor's time at which it must next be advanced. `delivers` is false if nobody hears its
    /// events.
    pub(crate) fn wakes_s(&self, machine: &StateMachine, delivers: bool) -> f64 {
        let step_s = self.next_step_s(self.state.now_s);
        let wakes_s = machine.wakes_s(&self.state).min(step_s);
        match delivers {
            true => wakes_s.min(machine.finishes_s(&self.state)),
            false => wakes_s,
        }
    }
}

struct Watcher<'a, 's> {
    library: &'a Library,
    sink: &'a mut Sink<'s>,
    inertialiser: Inertialiser<'a>,
    /// All records of the actor, as they were before the update.
    records: &'a [PlayRecord],
}

impl Watcher<'_, '_> {
    /// Samples a state machine in the middle of an update, and everything else that plays.
    fn sample(
        &mut self,
        motion: Motion,
        (machine, state): (&StateMachine, &StateMachineInstance),
        time_s: f64,
    ) {
        let mut records = core::mem::take(&mut self.inertialiser.samples.records);
        records.clear();
        let others = self.records.iter();
        records.extend(others.filter(|record| !record.has(PlayRecord::FLAG_STATE_MACHINE)));
        machine.driven(state, |clip| {
            let record = driven_record(self.library, clip);
            let at = records.partition_point(|other| other.layer <= record.layer);
            if records.len() < 2 * MOST as usize {
                records.insert(at, record);
            }
        });
        self.inertialiser.sample(motion, &records, time_s);
        self.inertialiser.samples.records = records;
    }
}

impl Watch for Watcher<'_, '_> {
    fn entered(&mut self, layer: u8, state: Id<StateDesc>, time_s: f64) {
        self.sink.entered(layer, state, time_s);
    }

    fn taken(&mut self, layer: u8, taken: Taken, time_s: f64) {
        self.sink.left(layer, taken.from, time_s);
        self.sink.entered(layer, taken.to, time_s);
    }

    fn inertialising(&mut self, of: (&StateMachine, &StateMachineInstance), time_s: f64) {
        self.sample(Motion::Old, of, time_s);
    }

    fn inertialised(
        &mut self,
        of: (&StateMachine, &StateMachineInstance),
        time_s: f64,
        inertial_s: f64,
    ) {
        self.sample(Motion::New, of, time_s);
        self.inertialiser.begin(time_s, inertial_s);
    }

    fn finished(&mut self, clip: &DrivenClip, state: Id<StateDesc>, time_s: f64) {
        self.sink.finished(clip, state, time_s);
    }

    fn passed(&mut self, clip: &DrivenClip, span_s: [f64; 2]) {
        let span = RecordSpan {
            once_end_s: clip.end_s,
            ..RecordSpan::new(driven_record(self.library, clip), span_s)
        };
        self.sink.pass(self.library, &span);
    }
}

/// The record of a clip that a state machine plays.
fn driven_record(library: &Library, clip: &DrivenClip) -> PlayRecord {
    let mut record = PlayRecord::new(clip.clip.0, clip.anchor_s);
    record.re_anchor(clip.anchor_s, clip.offset_s, [clip.speed; 2], 0.0);
    record.set_loop_mode(clip.loop_mode);
    record.set_ease(clip.weight.ease);
    record.from_weight = clip.weight.from;
    record.to_weight = clip.weight.to;
    record.fade_start_s = clip.weight.start_s;
    record.fade_s = clip.weight.duration_s as f32;
    let mask = clip
        .mask
        .and_then(|mask| library.set.machine_masks.get(usize::from(mask)));
    record.mask = mask.map_or(PlayRecord::NO_MASK, |mask| mask.0);
    record.layer = clip.layer;
    record.flags = PlayRecord::FLAG_STATE_MACHINE;
    if clip.begun {
        record.flags |= PlayRecord::FLAG_STARTED;
    }
    record
}
