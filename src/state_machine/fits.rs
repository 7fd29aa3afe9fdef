//! Fits saved instances, and those of another state machine, to a state machine.

use super::desc::{ParameterDesc, ParameterKind};
use super::fire::enter;
use super::instance::{Fade, Fading, LayerState, Play, Source, StateMachineInstance, Value};
use super::machine::StateMachine;
use super::model::{Layer, Parameter};
use crate::error::{Error, Result};
use crate::hash;
use crate::id::Id;

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

impl StateMachine {
    /// The parameter with the name and the kind that a parameter of `old` has.
    pub(crate) fn same_parameter(
        &self,
        old: &Self,
        id: Id<ParameterDesc>,
    ) -> Option<Id<ParameterDesc>> {
        let before = old.parameters.get(id.index())?;
        let kind = core::mem::discriminant(&before.kind);
        let same =
            |now: &Parameter| now.name == before.name && core::mem::discriminant(&now.kind) == kind;
        let found = self.parameters.iter().position(same);
        found.map(|index| Id::new(index as u16))
    }

    /// The state of an instance of `old`, for this state machine.
    ///
    /// `lost` is called with what this state machine lacks.
    pub(crate) fn adopt(
        &self,
        old: &Self,
        state: &StateMachineInstance,
        lost: &mut dyn FnMut(&'static str, &str),
    ) -> StateMachineInstance {
        let mut new = self.start(state.now_s);
        new.fresh = state.fresh;
        for ((index, parameter), value) in (0..).zip(&old.parameters).zip(&state.values) {
            let (id, name) = (Id::new(index), &*parameter.name);
            let Some(id) = self.same_parameter(old, id) else {
                lost("parameter", name);
                continue;
            };
            // Kinds are equal and values are finite, so there is no error.
            let _ = self.set(&mut new, id, *value);
        }
        let mut kept = vec![false; self.layers.len()];
        for (before, own) in old.layers.iter().zip(&state.layers) {
            let mut all = self.layers.iter().enumerate();
            let Some((at, layer)) = all.find(|(_, layer)| layer.name == before.name) else {
                lost("layer", &before.name);
                continue;
            };
            match adopted(layer, before, own) {
                Some(own) => (new.layers[at], kept[at]) = (own, true),
                None if state.fresh => {}
                None => {
                    lost("state", &before.state(&own.current).name);
                }
            }
        }
        if !state.fresh {
            let layers = self.layers.iter().zip(&mut new.layers).zip(kept);
            for ((layer, own), _) in layers.filter(|(_, kept)| !kept) {
                enter(layer, own, &mut new.values, state.now_s);
            }
        }
        // Rates follow from the new durations.
        new.changed = true;
        new
    }
}

/// The state of a layer that replaces `old`. `None` if it lacks the current state.
fn adopted(layer: &Layer, old: &Layer, own: &LayerState) -> Option<LayerState> {
    let state = |layer: &Layer, name: &str| {
        let found = layer.states.iter().position(|state| *state.name == *name);
        found.map(|index| index as u16)
    };
    let moved = |play: &Play| {
        let state = state(layer, &old.state(play).name)?;
        Some(Play { state, ..*play })
    };
    let current = moved(&own.current)?;
    let fade = own.fade.and_then(|fade| {
        let before = &old.transitions[usize::from(fade.transition)];
        let found = |index: u16| state(layer, &old.states[usize::from(index)].name);
        let to = found(before.to)?;
        let from = match before.from {
            Some(from) => Some(found(from)?),
            None => None,
        };
        let mut all = layer.transitions.iter();
        let same = all.position(|it| (it.from, it.to) == (from, to));
        let transition = same? as u16;
        Some(Fade { transition, ..fade })
    });
    let mut fading = Fading::default();
    for source in own.fading.live() {
        if let Some(play) = moved(&source.play) {
            fading.push(Source { play, ..*source });
        }
    }
    let mut new = LayerState {
        current,
        fade,
        fading,
    };
    // There is a fade exactly if something fades out.
    if new.fade.is_none() || new.fading.live().is_empty() {
        new.end_fade();
    }
    Some(new)
}
