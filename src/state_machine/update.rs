//! Starts and queries one instance.

use super::desc::ParameterKind;
use super::machine::StateMachine;
use super::state::{Fading, LayerState, Play, Proven, StateMachineInstance, Value};
use super::status::{LayerStatus, status};
use crate::error::{Error, Result};

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
    ///
    /// # Errors
    /// - [`Error::NotFound`] if the layer does not exist.
    /// - [`Error::Argument`] if the instance belongs to another state machine, or was deserialised
    ///   from invalid data.
    pub(crate) fn status(
        &self,
        state: &StateMachineInstance,
        layer: u8,
        now_s: f64,
    ) -> Result<LayerStatus> {
        self.check(state)?;
        let found = self.layer_at(layer)?;
        let own = state.layers.get(usize::from(layer));
        let time_s = self.time(now_s, state);
        own.map(|own| status(found, own, time_s))
            .ok_or(Error::not_found("layer", layer.into(), state.layers.len()))
    }

    fn time(&self, now_s: f64, state: &StateMachineInstance) -> f64 {
        let valid = now_s.abs() <= StateMachine::MAX_TIME_S;
        if valid { now_s } else { state.now_s }
    }
}
