//! Starts an instance, advances it event by event, and lists what it plays.

use super::desc::{ParameterKind, StateDesc};
use super::fire::{Fired, Taken, due, enter, fire, next_s, share};
use super::instance::{Fading, LayerState, Play, Proven, StateMachineInstance, Value};
use super::machine::StateMachine;
use super::model::Layer;
use super::pace::{clips, position, set_rates};
use crate::clip::Clip;
use crate::error::Result;
use crate::id::Id;
use crate::motion::{LoopMode, Ramp};

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

impl StateMachine {
    /// Advances an instance, which must fit the state machine, to `now_s`.
    pub(crate) fn drive(&self, state: &mut StateMachineInstance, now_s: f64, log: &mut dyn Watch) {
        let now_s = state.valid_time_s(now_s);
        if now_s < state.now_s {
            state.move_to(now_s);
        }
        let mut run = Run {
            machine: self,
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
            state.layers[index].end_fade_at(time_s);
            self.settle(state, index, (time_s, true));
        }
        // The step limit was reached: the next update tests the remaining conditions.
        state.changed |= self.steps == 0;
        for index in 0..self.machine.layers.len() {
            self.note(state, index, now_s);
            state.layers[index].end_fade_at(now_s);
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
        let layer = &self.machine.layers[index];
        let mut fired = Fired::NONE;
        let mut at = (time_s, met);
        while self.steps > 0 {
            let own = &state.layers[index];
            let Some(next) = due(layer, own, &state.values, at, &fired) else {
                break;
            };
            let inertial_s = next.inertial_s();
            if inertial_s > 0.0 {
                self.log.inertialising((self.machine, state), time_s);
            }
            let own = &mut state.layers[index];
            let taken = fire(layer, own, &mut state.values, next, (time_s, &mut fired));
            self.steps -= 1;
            at.1 = false;
            self.log.taken(index as u8, taken, time_s);
            if inertial_s > 0.0 {
                self.log
                    .inertialised((self.machine, state), time_s, inertial_s);
            }
        }
        self.done_s[index] = time_s;
    }

    /// Records the clip time that passed on a layer since the last record.
    fn note(&mut self, state: &mut StateMachineInstance, index: usize, to_s: f64) {
        let (layer, own) = (&self.machine.layers[index], &mut state.layers[index]);
        let from_s = self.done_s[index];
        if to_s > from_s {
            layer.driven(index as u8, own, &state.values, |clip| {
                self.log.passed(clip, [from_s, to_s]);
            });
            own.plays_mut().for_each(|play| play.begun = true);
            let end_s = layer.end_s(&own.current).max(from_s);
            if end_s <= to_s && !own.current.finished {
                own.current.finished = true;
                let lead = layer.lead(index as u8, own, &state.values);
                if let Some(clip) = lead {
                    let of = Id::new(own.current.state);
                    self.log.finished(&clip, of, end_s);
                }
            }
        }
    }
}

impl Layer {
    /// The weight of the layer over the layers below.
    fn weight_of(&self, values: &[Value]) -> f64 {
        let most = if self.additive { f32::MAX } else { 1.0 };
        self.weight.value(values).clamp(0.0, most.into())
    }

    /// Calls `each` for every clip that the layer plays: states that fade out first, oldest first.
    pub(crate) fn driven(
        &self,
        index: u8,
        own: &LayerState,
        values: &[Value],
        mut each: impl FnMut(&DrivenClip),
    ) {
        let level = self.weight_of(values);
        if level <= 0.0 {
            return;
        }
        let fading = own.fading.live().iter();
        let fading = fading.map(|source| (&source.play, [source.weight, 0.0]));
        for (play, shares) in fading.chain([(&own.current, own.shares())]) {
            let shares = shares.map(|share| share * level);
            self.driven_by(index, own, values, (play, shares), &mut each);
        }
    }

    /// The clip of the current state that has the most weight.
    fn lead(&self, index: u8, own: &LayerState, values: &[Value]) -> Option<DrivenClip> {
        let level = self.weight_of(values);
        let mut lead: Option<DrivenClip> = None;
        // Of equal weights, as those of a layer without weight, the first leads.
        let shares = own.shares().map(|share| share * level);
        self.driven_by(index, own, values, (&own.current, shares), &mut |clip| {
            if lead.is_none_or(|lead| clip.weight.to > lead.weight.to) {
                lead = Some(*clip);
            }
        });
        lead
    }

    fn driven_by(
        &self,
        layer: u8,
        own: &LayerState,
        values: &[Value],
        (play, [from, to]): (&Play, [f64; 2]),
        each: &mut impl FnMut(&DrivenClip),
    ) {
        let state = self.state(play);
        for (clip, part) in clips(&state.motion, values) {
            let part = f64::from(part);
            if part <= 0.0 {
                continue;
            }
            let [from, to] = [from, to].map(|share| (share * part) as f32);
            let weight = own.fade.map_or(Ramp::constant(to), |fade| {
                Ramp::new(from, to, fade.start_s, fade.duration_s, self.ease(&fade))
            });
            each(&DrivenClip {
                layer,
                mask: self.mask,
                clip: clip.clip,
                anchor_s: play.anchor_s,
                offset_s: play.phase * clip.duration_s,
                speed: play.rate_hz * clip.duration_s,
                loop_mode: state.wrap,
                weight,
                begun: play.begun,
                end_s: self.end_s(play),
            });
        }
    }
}

impl StateMachine {
    /// Calls `each` for every clip that an instance plays, layer by layer.
    pub(crate) fn driven(&self, state: &StateMachineInstance, mut each: impl FnMut(&DrivenClip)) {
        for (index, (layer, own)) in self.layers.iter().zip(&state.layers).enumerate() {
            layer.driven(index as u8, own, &state.values, &mut each);
        }
    }

    pub(crate) fn has_inertialisation(&self) -> bool {
        let mut all = self.layers.iter().flat_map(|layer| &layer.transitions);
        all.any(|transition| transition.inertial_s > 0.0)
    }

    /// The next time at which an instance has work to do, if no parameter changes.
    ///
    /// That is when a fade ends, or when an exit time is met whose conditions hold. If the instance
    /// has work to do at once, it is the instance's own time.
    pub(crate) fn wakes_s(&self, state: &StateMachineInstance) -> f64 {
        if state.fresh || state.changed {
            return state.now_s;
        }
        let layers = self.layers.iter().zip(&state.layers);
        let next = layers.map(|(layer, own)| next_s(layer, own, &state.values, state.now_s));
        next.fold(f64::INFINITY, f64::min)
    }

    /// The next time at which a current state of an instance finishes, if no parameter changes.
    pub(crate) fn finishes_s(&self, state: &StateMachineInstance) -> f64 {
        let layers = self.layers.iter().zip(&state.layers);
        let plays = layers.map(|(layer, own)| (layer, &own.current));
        let ends = plays.filter(|(_, play)| !play.finished);
        ends.map(|(layer, play)| layer.end_s(play).max(state.now_s))
            .fold(f64::INFINITY, f64::min)
    }
}

/// A clip that a layer of an instance plays, in closed form over time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DrivenClip {
    pub(crate) layer: u8,
    /// Index into the state machine's masks.
    pub(crate) mask: Option<u16>,
    pub(crate) clip: Id<Clip>,
    /// The time at which unwrapped clip time is `offset_s`.
    pub(crate) anchor_s: f64,
    pub(crate) offset_s: f64,
    /// Clip seconds per second.
    pub(crate) speed: f64,
    pub(crate) loop_mode: LoopMode,
    /// The combined weight of layer, blend space and fade.
    pub(crate) weight: Ramp,
    /// True if time has passed since its state was entered.
    pub(crate) begun: bool,
    /// The time at which its state reaches its end, if it plays once.
    pub(crate) end_s: f64,
}

/// Receives the events of an instance during an update, in time order within each layer.
pub(crate) trait Watch {
    /// The first state of a layer was entered.
    fn entered(&mut self, layer: u8, state: Id<StateDesc>, time_s: f64);

    /// A transition fired.
    fn taken(&mut self, layer: u8, taken: Taken, time_s: f64);

    /// An inertialised transition is about to fire. The instance still plays the old state.
    fn inertialising(&mut self, of: (&StateMachine, &StateMachineInstance), time_s: f64);

    /// An inertialised transition has fired. The instance plays the new state.
    fn inertialised(
        &mut self,
        of: (&StateMachine, &StateMachineInstance),
        time_s: f64,
        inertial_s: f64,
    );

    /// The current state of a layer reached its end. `clip` is the one with the most weight.
    fn finished(&mut self, clip: &DrivenClip, state: Id<StateDesc>, time_s: f64);

    /// A clip played over `span_s`, during which no transition of its layer fired.
    fn passed(&mut self, clip: &DrivenClip, span_s: [f64; 2]);
}

impl StateMachine {
    /// Creates an instance that starts at `now_s`.
    ///
    /// It enters its first states in the first update, so parameters that are set before can choose
    /// them. A time that is not a number, or lies beyond [`Self::MAX_TIME_S`], counts as 0.
    pub(crate) fn start(&self, now_s: f64) -> StateMachineInstance {
        let now_s = if now_s.abs() <= StateMachine::MAX_TIME_S {
            now_s
        } else {
            0.0
        };
        let values = self
            .parameters
            .iter()
            .map(|parameter| match parameter.kind {
                ParameterKind::Float { default, .. } => Value::Float(default),
                ParameterKind::Int { default, .. } => Value::Int(default),
                ParameterKind::Bool { default } => Value::Bool(default),
                ParameterKind::Trigger => Value::Trigger(false),
            });
        let layers = self.layers.iter().map(|layer| LayerState {
            current: Play {
                state: layer.entry,
                anchor_s: now_s,
                ..Play::default()
            },
            fade: None,
            fading: Fading::default(),
        });
        StateMachineInstance {
            machine: self.fingerprint,
            now_s,
            fresh: true,
            changed: true,
            values: values.collect(),
            layers: layers.collect(),
            proven: Proven(true),
        }
    }

    /// The status of a layer of an instance at `now_s`.
    ///
    /// Normally, `now_s` is the time of the last update. At any other time, the states play
    /// forwards or backwards in closed form and no transition fires. A time that is not a number,
    /// or lies beyond [`Self::MAX_TIME_S`], counts as the time of the last update.
    pub(crate) fn status(
        &self,
        state: &StateMachineInstance,
        layer: u8,
        now_s: f64,
    ) -> Result<LayerStatus> {
        self.check(state)?;
        let found = self.layer_at(layer)?;
        let time_s = state.valid_time_s(now_s);
        Ok(status(found, &state.layers[usize::from(layer)], time_s))
    }
}

/// The status of one layer of an instance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayerStatus {
    /// The current state, which may still be fading in.
    pub state: Id<StateDesc>,
    /// Phase of the state, in cycles since the start of the motion.
    pub phase: f64,
    /// Position in the motion: 0 is the start, 1 the end.
    pub position: f64,
    /// Weight of the state, which is the progress of the fade; 1 without a fade.
    pub weight: f32,
    /// The transition whose fade is active, as an index in the layer.
    pub transition: Option<usize>,
}

pub(crate) fn status(layer: &Layer, own: &LayerState, time_s: f64) -> LayerStatus {
    let phase = own.current.phase_at(time_s);
    LayerStatus {
        state: Id::new(own.current.state),
        phase,
        position: position(layer.state(&own.current).wrap, phase),
        weight: share(layer, own, time_s) as f32,
        transition: own.fade.map(|fade| fade.transition.into()),
    }
}
