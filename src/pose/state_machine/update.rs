//! Batches: many instances from frame to frame.

use super::advance::advance;
use super::desc::ParameterKind;
use super::log::{Part, StateMachineLog};
use super::play::{LayerStatus, play, status};
use super::state::{Fading, LayerState, Play, Proven, StateMachineInstance, Value};
use super::{MAX_TIME_S, StateMachine};
use crate::error::{Error, Result};
use crate::pose::SampleList;
use rayon::prelude::*;

/// How many instances a thread takes at a time.
const CHUNK: usize = 256;

impl StateMachine {
    /// An instance that starts at `now_s`, in the first update: so parameters that are set before can choose
    /// its first state. A time that is not a number, or beyond [`MAX_TIME_S`], counts as 0.
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

    /// Takes all instances to the engine's `now_s`, in seconds. Each may have been updated up to another time.
    ///
    /// # Errors
    /// [`Error::Each`] with the first state that is of another machine, or that was read from something broken;
    /// nothing is updated then.
    pub fn update(&self, now_s: f64, states: &mut [StateMachineInstance]) -> Result<()> {
        self.prove(states)?;
        for state in states {
            advance(self, state, now_s, None);
        }
        Ok(())
    }

    /// [`Self::update`], and what happened.
    ///
    /// # Errors
    /// As there; the log stays as it was.
    pub fn update_logged(
        &self,
        now_s: f64,
        states: &mut [StateMachineInstance],
        log: &mut StateMachineLog,
    ) -> Result<()> {
        self.prove(states)?;
        for part in log.parts(1) {
            self.update_part(now_s, 0, states, part);
        }
        Ok(())
    }

    /// [`Self::update`] on all of rayon's threads, with the same result to the bit.
    ///
    /// # Errors
    /// As there.
    pub fn update_par(&self, now_s: f64, states: &mut [StateMachineInstance]) -> Result<()> {
        self.prove(states)?;
        states.par_chunks_mut(CHUNK).for_each(|states| {
            for state in states {
                advance(self, state, now_s, None);
            }
        });
        Ok(())
    }

    /// [`Self::update_logged`] on all of rayon's threads, with the same result to the bit.
    ///
    /// # Errors
    /// As there.
    pub fn update_logged_par(
        &self,
        now_s: f64,
        states: &mut [StateMachineInstance],
        log: &mut StateMachineLog,
    ) -> Result<()> {
        self.prove(states)?;
        let parts = log.parts(states.len().div_ceil(CHUNK));
        let chunks = states.par_chunks_mut(CHUNK).zip(parts).enumerate();
        chunks.for_each(|(chunk, (states, part))| {
            self.update_part(now_s, chunk * CHUNK, states, part);
        });
        Ok(())
    }

    fn update_part(
        &self,
        now_s: f64,
        first: usize,
        states: &mut [StateMachineInstance],
        part: &mut Part,
    ) {
        for (index, state) in states.iter_mut().enumerate() {
            part.set_instance(first + index);
            advance(self, state, now_s, Some(part));
        }
    }

    /// Appends what each instance plays at `now_s` to `list`, in order. That is the time of the last update; at another
    /// time, states play on or back in closed form and no transition fires. A time that is not a number, or beyond
    /// [`MAX_TIME_S`], counts as that of the last update.
    ///
    /// # Errors
    /// As [`Self::update`]; nothing is appended then.
    pub fn play(
        &self,
        now_s: f64,
        states: &[StateMachineInstance],
        list: &mut SampleList,
    ) -> Result<()> {
        for (index, state) in states.iter().enumerate() {
            self.check(state).map_err(|why| each(index, why))?;
        }
        for state in states {
            let now_s = self.time(now_s, state);
            list.push_with(|samples| play(self, state, now_s, samples));
        }
        Ok(())
    }

    /// Where a layer of an instance stands at `now_s`, a time as in [`Self::play`].
    ///
    /// # Errors
    /// [`Error::NotFound`] for the layer, [`Error::Argument`] for a state that is of another machine, or that was read from
    /// something broken.
    pub fn status(
        &self,
        state: &StateMachineInstance,
        layer: usize,
        now_s: f64,
    ) -> Result<LayerStatus> {
        self.check(state)?;
        let found = self.layer(layer)?;
        let own = state.layers.get(layer);
        let time_s = self.time(now_s, state);
        own.map(|own| status(found, own, time_s))
            .ok_or(Error::NotFound {
                what: "layer",
                index: layer as u64,
                count: state.layers.len() as u64,
            })
    }

    fn time(&self, now_s: f64, state: &StateMachineInstance) -> f64 {
        let valid = now_s.abs() <= MAX_TIME_S;
        if valid { now_s } else { state.now_s }
    }

    fn prove(&self, states: &mut [StateMachineInstance]) -> Result<()> {
        for (index, state) in states.iter_mut().enumerate() {
            self.check(state).map_err(|why| each(index, why))?;
            state.proven = Proven(true);
        }
        Ok(())
    }
}

fn each(index: usize, why: Error) -> Error {
    Error::Each {
        what: "machine state",
        index: index as u64,
        why: Box::new(why),
    }
}
