//! The rules of state machines in plain `f64` code that walks through names: it knows time
//! differences only, moves every phase along with each event, and shares nothing with the crate but
//! the data and the weights of blends in a plane.

use super::made::{CLIPS, Input};
use crate::blend_space::plain::{plane, weights};
use std::collections::BTreeMap;
use throng::glam::Vec2;
use throng::motion::{Ease, LoopMode};
use throng::state_machine::{
    Condition, LayerDesc, MotionDesc, ParameterKind, StateMachineDesc, Test,
};

/// Below this, times are the same: steps here add up their rounding.
pub(super) const SAME_S: f64 = 1e-11;
/// Weights below are what rounding leaves at the end of a fade.
pub(super) const GONE: f64 = 1e-12;

#[derive(Clone)]
pub(super) struct Playing {
    pub(super) state: usize,
    pub(super) phase: f64,
    pub(super) rate: f64,
    /// 0 its own, 1 the current state's, 2 what it was.
    pub(super) pace: u8,
    pub(super) weight: f64,
}

pub(super) struct Level {
    pub(super) playing: Playing,
    pub(super) fading: Vec<Playing>,
    /// Transition, seconds since its start.
    pub(super) fade: Option<(usize, f64)>,
}

pub(crate) struct Simulation<'d> {
    pub(super) desc: &'d StateMachineDesc,
    pub(crate) floats: BTreeMap<String, f64>,
    pub(crate) bools: BTreeMap<String, bool>,
    pub(super) levels: Vec<Level>,
    pub(crate) now_s: f64,
    pub(super) dirty: bool,
    pub(super) fresh: bool,
    /// Layer, whether entered, state, time.
    pub(crate) events: Vec<(usize, bool, usize, f64)>,
    /// Events and transitions of the last update.
    pub(crate) steps: usize,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) level: usize,
    pub(crate) clip: usize,
    pub(crate) time_s: f64,
    pub(crate) weight: f64,
    pub(crate) looped: bool,
}

pub(super) fn eased(ease: Ease, u: f64) -> f64 {
    match ease {
        Ease::Linear => u,
        Ease::Smooth => 3.0 * u.powi(2) - 2.0 * u.powi(3),
    }
}

pub(super) fn named(layer: &LayerDesc, name: &str) -> usize {
    layer.states.iter().position(|s| s.name == name).unwrap()
}

pub(super) fn clip(name: &str) -> usize {
    CLIPS.iter().position(|clip| clip.0 == name).unwrap()
}

pub(super) fn place(playback: LoopMode, phase: f64) -> f64 {
    match playback {
        LoopMode::Loop => phase - phase.floor(),
        LoopMode::Once => phase.clamp(0.0, 1.0),
        LoopMode::PingPong => {
            let part = phase / 2.0 - (phase / 2.0).floor();
            if part < 0.5 {
                2.0 * part
            } else {
                2.0 - 2.0 * part
            }
        }
    }
}

impl<'d> Simulation<'d> {
    pub(crate) fn new(desc: &'d StateMachineDesc, now_s: f64) -> Self {
        let (mut floats, mut bools) = (BTreeMap::new(), BTreeMap::new());
        for parameter in &desc.parameters {
            let name = parameter.name.clone();
            match parameter.kind {
                ParameterKind::Float { default, .. } => {
                    floats.insert(name, default.into());
                }
                ParameterKind::Int { default, .. } => {
                    floats.insert(name, default.into());
                }
                ParameterKind::Bool { default } => {
                    bools.insert(name, default);
                }
                ParameterKind::Trigger => {
                    bools.insert(name, false);
                }
            }
        }
        Self {
            desc,
            floats,
            bools,
            levels: Vec::new(),
            now_s,
            dirty: true,
            fresh: true,
            events: Vec::new(),
            steps: 0,
        }
    }

    pub(crate) fn apply(&mut self, input: Input) {
        let (name, value) = match input {
            Input::Float(name, value) => (name, f64::from(value.clamp(-1.0, 2.0))),
            Input::Count(value) => ("count", f64::from(value.min(3))),
            Input::Flag(value) => {
                self.dirty |= self.bools.insert("flag".into(), value) != Some(value);
                return;
            }
            Input::Trigger(name) => {
                self.dirty |= self.bools.insert(name.into(), true) != Some(true);
                return;
            }
        };
        self.dirty |= self.floats.insert(name.into(), value) != Some(value);
    }

    pub(super) fn holds(&self, condition: &Condition) -> bool {
        let name = &condition.parameter;
        let number = || self.floats[name];
        // Floats are compared as such.
        match condition.test {
            Test::Greater(x) => number() > f64::from(x as f32),
            Test::GreaterEqual(x) => number() >= f64::from(x as f32),
            Test::Less(x) => number() < f64::from(x as f32),
            Test::LessEqual(x) => number() <= f64::from(x as f32),
            Test::Equal(x) => number() == f64::from(x as f32),
            Test::NotEqual(x) => number() != f64::from(x as f32),
            Test::True => self.bools[name],
            Test::False => !self.bools[name],
        }
    }

    pub(super) fn weights(&self, motion: &MotionDesc) -> Vec<(usize, f64)> {
        match motion {
            MotionDesc::None => Vec::new(),
            MotionDesc::BlendSpace { .. } => unreachable!("machines without a character"),
            MotionDesc::Clip(name) => vec![(clip(name), 1.0)],
            MotionDesc::Blend1 { parameter, points } => {
                let x = self.floats[parameter];
                let mut sorted: Vec<_> = points
                    .iter()
                    .map(|point| (f64::from(point.at), clip(&point.clip)))
                    .collect();
                sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
                if x <= sorted[0].0 {
                    return vec![(sorted[0].1, 1.0)];
                }
                for pair in sorted.windows(2) {
                    let u = (x - pair[0].0) / (pair[1].0 - pair[0].0);
                    if (0.0..1.0).contains(&u) {
                        // Weights are `f32`, and their effect on the pace of a loop adds up.
                        let weights = [1.0 - u, u].map(|weight| f64::from(weight as f32));
                        return vec![(pair[0].1, weights[0]), (pair[1].1, weights[1])];
                    }
                }
                vec![(sorted[sorted.len() - 1].1, 1.0)]
            }
            MotionDesc::Blend2 { parameters, points } => {
                let positions: Vec<_> = points.iter().map(|p| Vec2::from_array(p.at)).collect();
                let [x, y] = [0, 1].map(|axis| self.floats[&parameters[axis]] as f32);
                let weights = weights(&plane(&positions), Vec2::new(x, y));
                let parts = points
                    .iter()
                    .zip(weights)
                    .filter(|(_, weight)| *weight > 0.0);
                parts
                    .map(|(point, weight)| (clip(&point.clip), f64::from(weight)))
                    .collect()
            }
        }
    }

    pub(crate) fn update(&mut self, now_s: f64) {
        self.events.clear();
        self.steps = 0;
        let mut left_s = if now_s > self.now_s {
            now_s - self.now_s
        } else {
            0.0
        };
        if now_s < self.now_s {
            self.now_s = now_s;
        }
        if self.fresh {
            self.enter();
        }
        let layers = 0..self.desc.layers.len();
        if self.dirty {
            self.dirty = false;
            layers.clone().for_each(|layer| self.set_rates(layer));
            layers.clone().for_each(|layer| self.settle(layer, None));
        }
        loop {
            let mut first = (f64::INFINITY, 0, None);
            for layer in layers.clone() {
                let desc = &self.desc.layers[layer];
                if let Some((transition, age_s)) = self.levels[layer].fade {
                    let wait = f64::from(desc.transitions[transition].fade_s) - age_s;
                    if wait < first.0 {
                        first = (wait.max(0.0), layer, None);
                    }
                }
                for (current, index) in self.offers(layer) {
                    let transition = &desc.transitions[index];
                    if transition.exit.is_some() {
                        let (wait, _) = self.wait_s(layer, current, transition);
                        if wait > SAME_S && wait < first.0 {
                            first = (wait, layer, Some((current, index)));
                        }
                    }
                }
            }
            let (wait_s, layer, met) = first;
            if wait_s > left_s {
                break;
            }
            layers.clone().for_each(|layer| self.step(layer, wait_s));
            left_s -= wait_s;
            self.now_s += wait_s;
            self.steps += 1;
            if met.is_none() {
                self.levels[layer].fade = None;
                self.levels[layer].fading.clear();
            }
            self.settle(layer, met);
        }
        layers.for_each(|layer| self.step(layer, left_s));
        if now_s.is_finite() {
            self.now_s = now_s;
        }
    }

    /// State and phase of each layer.
    pub(crate) fn status(&self) -> Vec<(usize, f64, f64)> {
        let levels = self.levels.iter().enumerate();
        levels
            .map(|(layer, level)| {
                (
                    level.playing.state,
                    level.playing.phase,
                    self.done(layer, 0.0),
                )
            })
            .collect()
    }

    pub(crate) fn samples(&self) -> Vec<Sample> {
        let mut out = Vec::new();
        for (index, (layer, level)) in self.desc.layers.iter().zip(&self.levels).enumerate() {
            let scale = layer
                .weight_parameter
                .as_ref()
                .map_or(1.0, |n| self.floats[n]);
            let most = if layer.additive { f64::MAX } else { 1.0 };
            let weight = (f64::from(layer.weight) * scale).min(most).max(0.0);
            let done = self.done(index, 0.0);
            let fading = level.fading.iter().map(|p| (p, p.weight * (1.0 - done)));
            for (playing, share) in fading.chain([(&level.playing, done)]) {
                let state = &layer.states[playing.state];
                for (clip, part) in self.weights(&state.motion) {
                    out.push(Sample {
                        level: index,
                        clip,
                        time_s: place(state.loop_mode, playing.phase) * CLIPS[clip].1,
                        weight: weight * share * part,
                        looped: state.loop_mode == LoopMode::Loop,
                    });
                }
            }
        }
        out
    }
}
