//! The steps of a simulation: rates, transitions that may fire, and what they do.

use super::made::CLIPS;
use super::simulation::{GONE, Level, Playing, SAME_S, Simulation, eased, named, place};
use throng::motion::LoopMode;
use throng::state_machine::{Interruption, Origin, ParameterKind, StateDesc, TransitionDesc};

impl Simulation<'_> {
    pub(super) fn own_rate(&self, state: &StateDesc) -> f64 {
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

    pub(super) fn set_rates(&mut self, layer: usize) {
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

    pub(super) fn done(&self, layer: usize, ahead_s: f64) -> f64 {
        let Some((transition, age_s)) = self.levels[layer].fade else {
            return 1.0;
        };
        let transition = &self.desc.layers[layer].transitions[transition];
        let u = ((age_s + ahead_s) / f64::from(transition.fade_s)).clamp(0.0, 1.0);
        eased(transition.ease, u)
    }

    /// The indices of the offered transitions, and whether they start at the current state.
    pub(super) fn offers(&self, layer: usize) -> Vec<(bool, usize)> {
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

    pub(super) fn offered(&self, layer: usize, current: bool) -> &Playing {
        let level = &self.levels[layer];
        if current {
            &level.playing
        } else {
            level.fading.last().unwrap()
        }
    }

    /// In how many seconds an exit time is met or passed: 0 or less if it is passed already,
    /// infinite if never.
    pub(super) fn wait_s(
        &self,
        layer: usize,
        current: bool,
        transition: &TransitionDesc,
    ) -> (f64, bool) {
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

    pub(super) fn step(&mut self, layer: usize, by_s: f64) {
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
    pub(super) fn settle(&mut self, layer: usize, met: Option<(bool, usize)>) {
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

    pub(super) fn fire(&mut self, layer: usize, current: bool, index: usize) {
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
        let synced = transition.synced;
        let phase = if !synced {
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
                if playing.pace == 1 && !(synced && current) {
                    playing.pace = 2;
                }
                if synced && !current && number + 1 == count {
                    playing.pace = 1;
                }
                playing.weight *= 1.0 - done;
                fading.push(playing);
            }
            fading.retain(|playing| playing.weight > GONE);
            let mut playing = level.playing.clone();
            playing.weight = done;
            playing.pace = u8::from(synced && current);
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

    pub(super) fn enter(&mut self) {
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
}
