//! Advances an instance from one time to another, event by event.

use super::fire::{Fired, due, enter, fire, next_s};
use super::machine::StateMachine;
use super::pace::set_rates;
use super::state::StateMachineInstance;
use super::watch::Watch;
use crate::id::Id;

/// The most events and transitions that one update handles per instance.
const MAX_STEPS: usize = 256;

/// The state of one update of one instance.
struct Run<'m, 'l> {
    machine: &'m StateMachine,
    log: &'l mut dyn Watch,
    /// The time up to which each layer is done.
    done_s: [f64; StateMachine::MAX_LAYERS],
    /// The number of events and transitions that this update may still handle.
    steps: usize,
}

/// Advances an instance, which must fit the state machine, to `now_s`.
pub(super) fn advance(
    machine: &StateMachine,
    state: &mut StateMachineInstance,
    now_s: f64,
    log: &mut dyn Watch,
) {
    let valid = now_s.abs() <= StateMachine::MAX_TIME_S;
    let now_s = if valid { now_s } else { state.now_s };
    if now_s < state.now_s {
        state.move_to(now_s);
    }
    let mut run = Run {
        machine,
        log,
        done_s: [state.now_s; StateMachine::MAX_LAYERS],
        steps: MAX_STEPS,
    };
    if state.fresh {
        run.enter(state);
    }
    if state.changed {
        run.apply(state);
    }
    run.to(state, now_s);
    state.now_s = now_s;
}

impl Run<'_, '_> {
    fn enter(&mut self, state: &mut StateMachineInstance) {
        state.fresh = false;
        state.changed = true;
        let layers = self.machine.layers.iter().zip(&mut state.layers);
        for (index, (layer, own)) in layers.enumerate() {
            enter(layer, own, &mut state.values, state.now_s);
            let state_id = Id::new(own.current.state);
            self.log.entered(index as u8, state_id, state.now_s);
        }
    }

    /// Applies the current parameters: updates rates and fires transitions.
    fn apply(&mut self, state: &mut StateMachineInstance) {
        state.changed = false;
        let time_s = state.now_s;
        for (layer, own) in self.machine.layers.iter().zip(&mut state.layers) {
            set_rates(layer, own, &state.values, time_s);
        }
        for index in 0..self.machine.layers.len() {
            self.settle(state, index, (time_s, false));
        }
    }

    /// Handles all events up to `now_s`, in time order.
    fn to(&mut self, state: &mut StateMachineInstance, now_s: f64) {
        while self.steps > 0 {
            let mut first: Option<(usize, f64)> = None;
            let layers = self.machine.layers.iter().zip(&state.layers);
            for ((index, (layer, own)), done_s) in layers.enumerate().zip(self.done_s) {
                let next = next_s(layer, own, &state.values, done_s);
                if next <= now_s && first.is_none_or(|(_, time)| next < time) {
                    first = Some((index, next));
                }
            }
            let Some((index, time_s)) = first else {
                break;
            };
            self.steps -= 1;
            self.note(state, index, time_s);
            if let Some(own) = state.layers.get_mut(index)
                && own.fade_end_s() <= time_s
            {
                own.end_fade();
            }
            self.settle(state, index, (time_s, true));
        }
        // The step limit was reached: the next update tests the remaining conditions.
        state.changed |= self.steps == 0;
        for index in 0..self.machine.layers.len() {
            self.note(state, index, now_s);
            if let Some(own) = state.layers.get_mut(index)
                && own.fade_end_s() <= now_s
            {
                own.end_fade();
            }
        }
    }

    /// Fires the transitions of a layer that can fire at one time.
    ///
    /// Each transition fires at most once, so a ring of transitions ends. Recurring exit times
    /// count only if `met`, and only for states that are already playing, not for a state entered
    /// at this very time.
    fn settle(
        &mut self,
        state: &mut StateMachineInstance,
        index: usize,
        (time_s, met): (f64, bool),
    ) {
        let Some(layer) = self.machine.layers.get(index) else {
            return;
        };
        let mut fired = Fired::NONE;
        let mut at = (time_s, met);
        while self.steps > 0 {
            let Some(own) = state.layers.get(index) else {
                break;
            };
            let Some(next) = due(layer, own, &state.values, at, &fired) else {
                break;
            };
            let inertial_s = next.inertial_s();
            if inertial_s > 0.0 {
                self.log.inertialising((self.machine, state), time_s);
            }
            let Some(own) = state.layers.get_mut(index) else {
                break;
            };
            let Some(taken) = fire(layer, own, &mut state.values, next, (time_s, &mut fired))
            else {
                break;
            };
            self.steps -= 1;
            at.1 = false;
            self.log.taken(index as u8, taken, time_s);
            if inertial_s > 0.0 {
                self.log
                    .inertialised((self.machine, state), time_s, inertial_s);
            }
        }
        if let Some(done) = self.done_s.get_mut(index) {
            *done = time_s;
        }
    }

    /// Records the clip time that passed on a layer since the last record.
    fn note(&mut self, state: &mut StateMachineInstance, index: usize, to_s: f64) {
        let (layer, own) = (self.machine.layers.get(index), state.layers.get_mut(index));
        let (Some(layer), Some(own)) = (layer, own) else {
            return;
        };
        let from_s = self.done_s.get(index).copied().unwrap_or(to_s);
        if to_s > from_s {
            layer.driven(index as u8, own, &state.values, |clip| {
                self.log.passed(clip, [from_s, to_s]);
            });
            own.plays_mut().for_each(|play| play.begun = true);
        }
    }
}
