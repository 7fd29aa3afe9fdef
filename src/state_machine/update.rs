//! Starts, updates and queries one instance.

use super::advance::advance;
use super::desc::ParameterKind;
use super::log::StateMachineLog;
use super::machine::StateMachine;
use super::play::{LayerStatus, play, status};
use super::state::{Fading, LayerState, Play, Proven, StateMachineInstance, Value};
use crate::error::{Error, Result};
use crate::motion::SampleList;

#[doc(hidden)]
impl StateMachine {
    /// Creates an instance that starts at `now_s`.
    ///
    /// It enters its first states in the first update, so parameters that are set before can choose
    /// them. A time that is not a number, or lies beyond [`Self::MAX_TIME_S`], counts as 0.
    #[must_use]
    pub fn start(&self, now_s: f64) -> StateMachineInstance {
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

    /// Advances an instance to the engine's `now_s`, in seconds.
    ///
    /// `log` receives what happened. Its previous contents are cleared.
    ///
    /// Use this for game logic that needs states but no poses, and for tools. To animate
    /// characters, let an [`Animator`](crate::animator::Animator) run the state machine: it updates
    /// many instances, and only those that need it.
    ///
    /// # Errors
    /// [`Error::Argument`] if the instance belongs to another state machine, or was deserialised
    /// from invalid data. Instance and log are then unchanged.
    pub fn update(
        &self,
        now_s: f64,
        instance: &mut StateMachineInstance,
        log: &mut StateMachineLog,
    ) -> Result<()> {
        self.check(instance)?;
        instance.proven = Proven(true);
        log.clear();
        advance(self, instance, now_s, log);
        Ok(())
    }

    /// Appends what an instance plays at `now_s` to `list`, for a
    /// [`BatchPoser`](crate::animate::BatchPoser).
    ///
    /// Normally, `now_s` is the time of the last update. At any other time, the states play
    /// forwards or backwards in closed form and no transition fires. A time that is not a number,
    /// or lies beyond [`Self::MAX_TIME_S`], counts as the time of the last update.
    ///
    /// # Errors
    /// As [`Self::update`]. Nothing is appended then.
    pub fn play(
        &self,
        now_s: f64,
        instance: &StateMachineInstance,
        list: &mut SampleList,
    ) -> Result<()> {
        self.check(instance)?;
        let now_s = self.time(now_s, instance);
        list.push_with(|samples| play(self, instance, now_s, samples));
        Ok(())
    }

    /// The status of a layer of an instance at `now_s`.
    ///
    /// `now_s` is a time as in [`Self::play`].
    ///
    /// # Errors
    /// - [`Error::NotFound`] if the layer does not exist.
    /// - [`Error::Argument`] if the instance belongs to another state machine, or was deserialised
    ///   from invalid data.
    pub fn status(
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
            .ok_or(Error::NotFound {
                what: "layer",
                index: layer.into(),
                count: state.layers.len() as u64,
            })
    }

    fn time(&self, now_s: f64, state: &StateMachineInstance) -> f64 {
        let valid = now_s.abs() <= StateMachine::MAX_TIME_S;
        if valid { now_s } else { state.now_s }
    }
}
