//! Checks that a saved instance fits a state machine.

use super::desc::ParameterKind;
use super::machine::StateMachine;
use super::model::Layer;
use super::state::{LayerState, Play, StateMachineInstance, Value};
use crate::error::{Error, Result};
use crate::hash;

/// The largest absolute phase. The fastest rate over the longest time gives 2e18, and the same is
/// added each time that the clock goes back.
const MAX_PHASE: f64 = 1e30;

impl StateMachine {
    /// Computes the fingerprint that instances store: a hash of all names and counts they rely on.
    pub(super) fn with_fingerprint(mut self) -> Self {
        let mut hash = Fnv(hash::EMPTY);
        hash.number(self.parameters.len());
        for parameter in &self.parameters {
            hash.text(&parameter.name);
            hash.text(parameter.kind.name());
        }
        hash.number(self.layers.len());
        for layer in &self.layers {
            hash.text(&layer.name);
            hash.number(layer.states.len());
            layer.states.iter().for_each(|state| hash.text(&state.name));
            hash.number(layer.transitions.len());
            for transition in &layer.transitions {
                hash.number(transition.from.map_or(usize::MAX, usize::from));
                hash.number(transition.to.into());
            }
        }
        // 63 bits only, because text formats have signed numbers.
        self.fingerprint = hash.0 >> 1;
        self
    }

    /// Checks that an instance belongs to this state machine.
    pub(crate) fn check(&self, state: &StateMachineInstance) -> Result<()> {
        let invalid = |why| Error::invalid("state machine instance", why);
        if state.machine != self.fingerprint {
            return Err(invalid("belongs to another state machine"));
        }
        if state.proven.0 || self.holds(state) {
            Ok(())
        } else {
            Err(invalid("has values that its state machine cannot reach"))
        }
    }

    fn holds(&self, state: &StateMachineInstance) -> bool {
        state.values.len() == self.parameters.len()
            && state.layers.len() == self.layers.len()
            && state.now_s.abs() <= StateMachine::MAX_TIME_S
            && self
                .parameters
                .iter()
                .zip(&state.values)
                .all(|(parameter, value)| is_of(parameter.kind, *value))
            && self
                .layers
                .iter()
                .zip(&state.layers)
                .all(|(layer, own)| layer_holds(layer, own))
    }
}

fn is_of(kind: ParameterKind, value: Value) -> bool {
    match (kind, value) {
        (ParameterKind::Float { .. }, Value::Float(value)) => value.is_finite(),
        (ParameterKind::Int { .. }, Value::Int(_))
        | (ParameterKind::Bool { .. }, Value::Bool(_))
        | (ParameterKind::Trigger, Value::Trigger(_)) => true,
        _ => false,
    }
}

fn layer_holds(layer: &Layer, own: &LayerState) -> bool {
    let exists = |play: &Play| {
        usize::from(play.state) < layer.states.len()
            && play.anchor_s.abs() <= StateMachine::MAX_TIME_S
            && play.phase.abs() <= MAX_PHASE
            && play.entered.abs() <= MAX_PHASE
            && play.rate_hz.abs() <= super::pace::MAX_RATE_HZ
    };
    let weights = own.fading.live().iter().map(|source| source.weight);
    let fades = own.fade.is_none_or(|fade| {
        usize::from(fade.transition) < layer.transitions.len()
            && fade.start_s.abs() <= 2.0 * StateMachine::MAX_TIME_S
            && fade.duration_s > 0.0
            && fade.duration_s <= f64::from(StateMachine::MAX_FADE_S)
    });
    fades
        && own.fade.is_some() != own.fading.live().is_empty()
        && exists(&own.current)
        && own.fading.live().iter().all(|source| exists(&source.play))
        && weights.clone().all(|weight| (0.0..=1.0).contains(&weight))
}

impl ParameterKind {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Float { .. } => "float",
            Self::Int { .. } => "int",
            Self::Bool { .. } => "bool",
            Self::Trigger => "trigger",
        }
    }
}

/// FNV-1a, which gives the same value on every platform and in every version.
struct Fnv(u64);

impl Fnv {
    fn byte(&mut self, byte: u8) {
        self.0 = hash::add(self.0, byte.into());
    }

    fn number(&mut self, number: usize) {
        (number as u64)
            .to_le_bytes()
            .into_iter()
            .for_each(|byte| self.byte(byte));
    }

    fn text(&mut self, text: &str) {
        self.number(text.len());
        text.bytes().for_each(|byte| self.byte(byte));
    }
}
