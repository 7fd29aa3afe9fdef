//! One instance from its start on, from time to time.

use super::advance::advance;
use super::desc::ParameterKind;
use super::log::StateMachineLog;
use super::machine::{MAX_TIME_S, StateMachine};
use super::play::{LayerStatus, play, status};
use super::state::{Fading, LayerState, Play, Proven, StateMachineInstance, Value};
use crate::error::{Error, Result};
use crate::motion::SampleList;

impl StateMachine {
    /// An instance that starts at `now_s`, in the first update: so parameters that are set before
    /// can choose its first state. A time that is not a number, or beyond [`MAX_TIME_S`], counts as 0.
    #[must_use]
    pub fn start(&self, now_s: f64) -> StateMachineInstance {
        let now_s = if now_s.abs() <= MAX_TIME_S {
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

    /// Takes an instance to the engine's `now_s`, in seconds, and notes in `log` what happened:
    /// what the log had before is forgotten.
    ///
    /// This is for game logic that needs states and no poses, and for tools. To animate characters,
    /// let an [`Animator`](crate::animator::Animator) run the state machine: it updates many
    /// instances, and only those that need it.
    ///
    /// # Errors
    /// [`Error::Argument`] if the instance is of another machine, or was read
    /// from something broken. Instance and log stay as they were then.
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
    /// [`BatchPoser`](crate::animate::BatchPoser). That is the time of the last update; at another
    /// time, states play on or back in closed form and no transition fires. A time that is not a
    /// number, or beyond [`MAX_TIME_S`], counts as that of the last update.
    ///
    /// # Errors
    /// As [`Self::update`]; nothing is appended then.
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

    /// Where a layer of an instance stands at `now_s`, a time as in [`Self::play`].
    ///
    /// # Errors
    /// [`Error::NotFound`] for the layer, [`Error::Argument`] for a state that is of another
    /// machine, or that was read from something broken.
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
        let valid = now_s.abs() <= MAX_TIME_S;
        if valid { now_s } else { state.now_s }
    }
}
