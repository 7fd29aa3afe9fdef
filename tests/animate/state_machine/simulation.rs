//! The rules of state machines in plain `f64` code that walks through names: it knows time
//! differences only, moves every phase along with each event, and shares nothing with the crate but
//! the data and the weights of blends in a plane.

use super::made::{CLIPS, Input};
use std::collections::BTreeMap;
use throng::glam::Vec2;
use throng::motion::{BlendSpace2, Ease, LoopMode};
use throng::state_machine::{
    Condition, Interruption, LayerDesc, MotionDesc, Origin, ParameterKind, StateDesc,
    StateMachineDesc, Test, TransitionDesc,
};

/// Below this, times are the same: steps here add up their rounding.
const SAME_S: f64 = 1e-11;
/// Weights below are what rounding leaves at the end of a fade.
const GONE: f64 = 1e-12;

#[derive(Clone)]
struct Playing {
    state: usize,
    phase: f64,
    rate: f64,
    /// 0 its own, 1 the current state's, 2 what it was.
    pace: u8,
    weight: f64,
}

struct Level {
    playing: Playing,
    fading: Vec<Playing>,
    /// Transition, seconds since its start.
    fade: Option<(usize, f64)>,
}

pub(crate) struct Simulation<'d> {
    desc: &'d StateMachineDesc,
    pub(crate) floats: BTreeMap<String, f64>,
    pub(crate) bools: BTreeMap<String, bool>,
    levels: Vec<Level>,
    pub(crate) now_s: f64,
    dirty: bool,
    fresh: bool,
    /// Layer, whether entered, state, time.
    pub(crate) events: Vec<(usize, bool, usize, f64)>,
    /// Events and transitions of the last update.
    pub(crate) steps: usize,
    /// For each clip, the unwrapped seconds that passed, times their weight.
    pub(crate) passed: Vec<f64>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) level: usize,
    pub(crate) clip: usize,
    pub(crate) time_s: f64,
    pub(crate) weight: f64,
    pub(crate) looped: bool,
}

fn eased(ease: Ease, u: f64) -> f64 {
    match ease {
        Ease::Linear => u,
        Ease::Smooth => 3.0 * u.powi(2) - 2.0 * u.powi(3),
    }
}

fn named(layer: &LayerDesc, name: &str) -> usize {
    layer.states.iter().position(|s| s.name == name).unwrap()
}

fn clip(name: &str) -> usize {
    CLIPS.iter().position(|clip| clip.0 == name).unwrap()
}

fn place(playback: LoopMode, phase: f64) -> f64 {
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
            passed: vec![0.0; CLIPS.len()],
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

    fn holds(&self, condition: &Condition) -> bool {
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

    fn weights(&self, motion: &MotionDesc) -> Vec<(usize, f64)> {
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
                let places: Vec<_> = points.iter().map(|p| Vec2::from_array(p.at)).collect();
                let [x, y] = [0, 1].map(|axis| self.floats[&parameters[axis]] as f32);
                let space = BlendSpace2::new(&places).unwrap();
                let parts = space.at(Vec2::new(x, y));
                parts
                    .map(|(index, weight)| (clip(&points[index].clip), f64::from(weight)))
                    .to_vec()
            }
        }
    }

    fn own_rate(&self, state: &StateDesc) -> f64 {
        let (mut mean, mut total) = (0.0, 0.0);
        for (clip, weight) in self.weights(&state.motion) {
            if CLIPS[clip].1 > 0.0 {
                mean += weight * CLIPS[clip].1;
                total += weight;
            }
        }
        let seconds = if total > 0.0 { mean / total } else { 1.0 };
        let scale = state.speed_parameter.as_ref();
        f64::from(state.speed) * scale.map_or(1.0, |name| self.floats[name]) / seconds
    }

    fn set_rates(&mut self, layer: usize) {
        let states = &self.desc.layers[layer].states;
        let own = |playing: &Playing| self.own_rate(&states[playing.state]);
        let lead = own(&self.levels[layer].playing);
        let fading = self.levels[layer].fading.iter();
        let rates: Vec<_> = fading
            .map(|playing| match playing.pace {
                0 => own(playing),
                1 => lead,
                _ => playing.rate,
            })
            .collect();
        let level = &mut self.levels[layer];
        level.playing.rate = lead;
        for (playing, rate) in level.fading.iter_mut().zip(rates) {
            playing.rate = rate;
        }
    }

    fn done(&self, layer: usize, ahead_s: f64) -> f64 {
        let Some((transition, age_s)) = self.levels[layer].fade else {
            return 1.0;
        };
        let transition = &self.desc.layers[layer].transitions[transition];
        let u = ((age_s + ahead_s) / f64::from(transition.fade_s)).clamp(0.0, 1.0);
        eased(transition.ease, u)
    }

    /// The indices of the offered transitions, and whether they start at the current state.
    fn offers(&self, layer: usize) -> Vec<(bool, usize)> {
        let desc = &self.desc.layers[layer];
        let level = &self.levels[layer];
        let of = |state: usize, current: bool| {
            let all = desc.transitions.iter().enumerate();
            let out = all.filter(move |(_, t)| {
                t.from == Origin::Any || t.from == Origin::State(desc.states[state].name.clone())
            });
            out.map(move |(index, _)| (current, index))
                .collect::<Vec<_>>()
        };
        let target = of(level.playing.state, true);
        let mut list = match level.fade {
            None => target,
            Some((under_way, _)) => {
                let transition = &desc.transitions[under_way];
                let mut source = of(level.fading.last().unwrap().state, false);
                source.retain(|(_, i)| *i != under_way && (!transition.ordered || *i < under_way));
                match transition.interruption {
                    Interruption::None => Vec::new(),
                    Interruption::Source => source,
                    Interruption::Target => target,
                    Interruption::SourceThenTarget => [source, target].concat(),
                    Interruption::TargetThenSource => [target, source].concat(),
                }
            }
        };
        let full = level.fading.iter().filter(|p| p.weight > GONE).count() >= 4;
        list.retain(|(_, index)| {
            let transition = &desc.transitions[*index];
            let itself = transition.from == Origin::Any
                && named(desc, &transition.to) == level.playing.state
                && !transition.to_self;
            let waits = full && transition.fade_s > 0.0;
            !(itself || waits)
                && transition
                    .when
                    .iter()
                    .all(|condition| self.holds(condition))
        });
        list
    }

    fn offered(&self, layer: usize, current: bool) -> &Playing {
        let level = &self.levels[layer];
        if current {
            &level.playing
        } else {
            level.fading.last().unwrap()
        }
    }

    /// In how many seconds an exit time is met or passed: 0 or less if it is passed already,
    /// infinite if never.
    fn wait_s(&self, layer: usize, current: bool, transition: &TransitionDesc) -> (f64, bool) {
        let playing = self.offered(layer, current);
        let state = &self.desc.layers[layer].states[playing.state];
        let exit = f64::from(transition.exit.unwrap());
        let (phase, rate) = (playing.phase, playing.rate);
        let recurs = exit < 1.0 && state.loop_mode != LoopMode::Once;
        if rate == 0.0 {
            let passed = !recurs && phase >= exit;
            return (if passed { 0.0 } else { f64::INFINITY }, recurs);
        }
        if !recurs {
            let goal = if rate < 0.0 { 1.0 - exit } else { exit };
            return ((goal - phase) / rate, false);
        }
        // All places near by, and the first that lies ahead.
        let mut first = f64::INFINITY;
        let around = phase.floor() as i64;
        for turn in around - 3..=around + 3 {
            let mut places = vec![turn as f64 + exit];
            if state.loop_mode == LoopMode::PingPong {
                places = if turn.rem_euclid(2) == 0 {
                    vec![turn as f64 + exit, turn as f64 - exit]
                } else {
                    Vec::new()
                };
            }
            for place in places {
                let wait = (place - phase) / rate;
                if wait > SAME_S && wait < first {
                    first = wait;
                }
            }
        }
        (first, true)
    }

    fn step(&mut self, layer: usize, by_s: f64) {
        let done = [0.0, 0.5 * by_s, by_s].map(|ahead| self.done(layer, ahead));
        let desc = &self.desc.layers[layer];
        let scale = desc
            .weight_parameter
            .as_ref()
            .map_or(1.0, |n| self.floats[n]);
        let most = if desc.additive { f64::MAX } else { 1.0 };
        let level_weight = (f64::from(desc.weight) * scale).min(most).max(0.0);
        let mean = (done[0] + 4.0 * done[1] + done[2]) / 6.0;
        let level = &self.levels[layer];
        let mut all: Vec<_> = level
            .fading
            .iter()
            .map(|p| (p.clone(), p.weight * (1.0 - mean)))
            .collect();
        all.push((level.playing.clone(), mean));
        for (playing, share) in all {
            let state = &desc.states[playing.state];
            let gone = playing.rate * by_s;
            for (clip, weight) in self.weights(&state.motion) {
                self.passed[clip] += gone * CLIPS[clip].1 * weight * share * level_weight;
            }
        }
        let level = &mut self.levels[layer];
        level.playing.phase += level.playing.rate * by_s;
        for playing in &mut level.fading {
            playing.phase += playing.rate * by_s;
        }
        if let Some((_, age_s)) = &mut level.fade {
            *age_s += by_s;
        }
    }

    /// Fires what is offered now. `met`: whether exit times that recur and are just met count.
    fn settle(&mut self, layer: usize, met: Option<(bool, usize)>) {
        let mut met = met;
        let mut fired = Vec::new();
        loop {
            let found = self.offers(layer).into_iter().find(|(current, index)| {
                let transition = &self.desc.layers[layer].transitions[*index];
                if fired.contains(index) {
                    return false;
                }
                if transition.exit.is_none() || met == Some((*current, *index)) {
                    return true;
                }
                let (wait, recurs) = self.wait_s(layer, *current, transition);
                !recurs && wait <= SAME_S
            });
            let Some((current, index)) = found else {
                return;
            };
            fired.push(index);
            met = None;
            self.steps += 1;
            self.fire(layer, current, index);
        }
    }

    fn fire(&mut self, layer: usize, current: bool, index: usize) {
        let desc = &self.desc.layers[layer];
        let transition = &desc.transitions[index];
        for condition in &transition.when {
            let parameters = &self.desc.parameters;
            let declared = parameters.iter().find(|p| p.name == condition.parameter);
            if declared.unwrap().kind == ParameterKind::Trigger {
                self.bools.insert(condition.parameter.clone(), false);
            }
        }
        let done = self.done(layer, 0.0);
        let to = named(desc, &transition.to);
        let old = self.offered(layer, current).clone();
        let how = desc.states[old.state].loop_mode;
        let in_step = transition.in_step;
        let phase = if !in_step {
            f64::from(transition.start.unwrap_or(desc.states[to].start))
        } else if how == LoopMode::PingPong && desc.states[to].loop_mode == LoopMode::PingPong {
            old.phase - 2.0 * (old.phase / 2.0).floor()
        } else {
            place(how, old.phase)
        };
        let level = &mut self.levels[layer];
        let mut fading = Vec::new();
        if transition.fade_s > 0.0 {
            let count = level.fading.len();
            for (number, mut playing) in level.fading.drain(..).enumerate() {
                if playing.pace == 1 && !(in_step && current) {
                    playing.pace = 2;
                }
                if in_step && !current && number + 1 == count {
                    playing.pace = 1;
                }
                playing.weight *= 1.0 - done;
                fading.push(playing);
            }
            fading.retain(|playing| playing.weight > GONE);
            let mut playing = level.playing.clone();
            playing.weight = done;
            playing.pace = u8::from(in_step && current);
            fading.push(playing);
        }
        let left = level.playing.state;
        level.fading = fading;
        level.fade = (transition.fade_s > 0.0).then_some((index, 0.0));
        level.playing = Playing {
            state: to,
            phase,
            rate: 0.0,
            pace: 0,
            weight: 1.0,
        };
        self.events.push((layer, false, left, self.now_s));
        self.events.push((layer, true, to, self.now_s));
        self.set_rates(layer);
    }

    fn enter(&mut self) {
        for (index, layer) in self.desc.layers.iter().enumerate() {
            let chosen = layer.transitions.iter().find(|t| {
                t.from == Origin::Entry && t.when.iter().all(|condition| self.holds(condition))
            });
            let state = named(layer, chosen.map_or(&layer.entry, |t| &t.to));
            for condition in chosen.iter().flat_map(|t| &t.when) {
                if ["tap", "hit"].contains(&condition.parameter.as_str()) {
                    self.bools.insert(condition.parameter.clone(), false);
                }
            }
            let start = chosen.and_then(|t| t.start);
            self.levels.push(Level {
                playing: Playing {
                    state,
                    phase: start.unwrap_or(layer.states[state].start).into(),
                    rate: 0.0,
                    pace: 0,
                    weight: 1.0,
                },
                fading: Vec::new(),
                fade: None,
            });
            self.set_rates(index);
            self.events.push((index, true, state, self.now_s));
        }
        self.fresh = false;
    }

    pub(crate) fn update(&mut self, now_s: f64) {
        self.events.clear();
        self.steps = 0;
        self.passed.fill(0.0);
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
