//! State machines of actors: their states become play records.

use super::carry::{Cut, Moment};
use super::clock::Clock;
use super::deliver::Sink;
use super::driven_record::driven_record;
use super::library::Library;
use super::passing::Passing;
use super::pool::{Block, RecordPool};
use super::record::PlayRecord;
use crate::id::Id;
use crate::motion::Ramp;
use crate::state_machine::{
    DrivenClip, ParameterDesc, StateDesc, StateMachine, StateMachineInstance, Taken, Watch,
};

/// The state machine of an actor.
#[derive(Debug, Clone)]
pub(crate) struct Driver {
    pub(crate) state: StateMachineInstance,
    /// Float parameters that are moving to a value.
    pub(crate) damped: Vec<(Id<ParameterDesc>, Ramp)>,
}

impl Driver {
    pub(crate) fn new(machine: &StateMachine, local_s: f64) -> Self {
        Self {
            state: machine.start(local_s),
            damped: Vec::new(),
        }
    }

    /// Sets the moving parameters to their values at `local_s`.
    fn damp(&mut self, machine: &StateMachine, local_s: f64) {
        for (id, ramp) in &self.damped {
            // The parameter is a float of this machine and the ramp is finite, so there is no
            // error.
            let _ = machine.set_float(&mut self.state, *id, ramp.at(local_s));
        }
        self.damped.retain(|(_, ramp)| !ramp.has_ended(local_s));
    }

    /// Advances to `local_s`, and reports to `sink` what happened.
    ///
    /// Inertialised transitions are recorded in `cut`. `records` are all records of the actor
    /// before the update.
    pub(crate) fn advance(
        &mut self,
        library: &Library,
        machine: &StateMachine,
        local_s: f64,
        sink: &mut Sink<'_>,
        (cut, records): (Cut<'_>, &[PlayRecord]),
    ) {
        let passed_s = self.state.now_s();
        self.damp(machine, passed_s);
        let mut watcher = Watcher {
            library,
            sink,
            cut,
            records,
        };
        machine.drive(&mut self.state, local_s, &mut watcher);
    }

    /// Replaces the state machine's records of the actor by those for its present state.
    pub(crate) fn write(
        &self,
        library: &Library,
        machine: &StateMachine,
        pool: &mut RecordPool,
        block: &mut Block,
    ) {
        let local_s = self.state.now_s();
        pool.retain(block, |record| !record.has(PlayRecord::FLAG_STATE_MACHINE));
        machine.driven(&self.state, |clip| {
            pool.push(block, driven_record(library, clip), local_s);
        });
    }

    /// The actor's time at which it must next be advanced.
    pub(crate) fn wakes_s(&self, machine: &StateMachine) -> f64 {
        if self.damped.is_empty() {
            machine.wakes_s(&self.state)
        } else {
            self.state.now_s()
        }
    }
}

struct Watcher<'a, 's> {
    library: &'a Library,
    sink: &'a mut Sink<'s>,
    cut: Cut<'a>,
    /// All records of the actor, as they were before the update.
    records: &'a [PlayRecord],
}

impl Watch for Watcher<'_, '_> {
    fn entered(&mut self, layer: u8, state: Id<StateDesc>, time_s: f64) {
        self.sink.entered(layer, state, time_s);
    }

    fn taken(&mut self, layer: u8, taken: Taken, time_s: f64) {
        self.sink.left(layer, taken.from, time_s);
        self.sink.entered(layer, taken.to, time_s);
    }

    fn cutting(&mut self, of: (&StateMachine, &StateMachineInstance), time_s: f64) {
        self.cut.note_machine(Moment::Old, of, self.records, time_s);
    }

    fn cut(&mut self, of: (&StateMachine, &StateMachineInstance), time_s: f64, inertial_s: f64) {
        self.cut.note_machine(Moment::New, of, self.records, time_s);
        self.cut.begin(time_s, inertial_s);
    }

    fn passed(&mut self, clip: &DrivenClip, span_s: [f64; 2]) {
        let record = driven_record(self.library, clip);
        self.sink.pass(self.library, &Passing::new(record, span_s));
    }
}

impl Clock {
    /// The animator's time of an actor's event.
    pub(crate) fn event_s(&self, local_s: f64, now_s: f64) -> f64 {
        let time_s = self.animator_s(local_s);
        // Rounding must not move the event past the present time.
        if time_s.is_finite() {
            time_s.min(now_s)
        } else {
            now_s
        }
    }
}
