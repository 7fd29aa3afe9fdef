//! Phases of states, and the times at which they are met.

use super::instance::{LayerState, Pace, Play, Value};
use super::model::{Ground, Layer, Motion, Played, Scaled, State};
use crate::motion::{BlendShape, LoopMode, Stride, cycle_duration_s, playback_speed};
use glam::Vec2;

/// The largest absolute rate in cycles per second. Faster rates are clamped.
pub(super) const MAX_RATE_HZ: f64 = 1e6;

/// The tolerance below which two phases count as equal.
///
/// A state that took over the phase of another at its exit time is then at that phase, not just
/// before it. After 30 days, a time is rounded by 5e-10 s.
const NEAR: f64 = 1e-6;

pub(super) fn float(values: &[Value], parameter: u16) -> f32 {
    match values.get(usize::from(parameter)) {
        Some(Value::Float(value)) => *value,
        _ => 0.0,
    }
}

impl Scaled {
    pub(super) fn value(&self, values: &[Value]) -> f64 {
        let scale = self.parameter.map_or(1.0, |p| float(values, p).into());
        f64::from(self.constant) * scale
    }
}

/// The clips of a motion, with weights that sum to 1.
///
/// Entries of weight 0 are padding. For [`Motion::None`] all entries are padding.
pub(super) fn clips(motion: &Motion, values: &[Value]) -> [(Played, f32); 3] {
    let none = (Played::default(), 0.0);
    let of = |clips: &[Played], (index, weight): (usize, f32)| {
        clips.get(index).map_or(none, |clip| (*clip, weight))
    };
    match motion {
        Motion::None => [none; 3],
        Motion::Clip(clip) => [(*clip, 1.0), none, none],
        Motion::Blend { shape, clips, .. } => {
            let at = motion.position(values);
            shape.parts(at).map(|part| of(clips, part))
        }
    }
}

impl Motion {
    /// The position in the blend. On a line, y is 0.
    fn position(&self, values: &[Value]) -> Vec2 {
        let Self::Blend {
            parameters, shape, ..
        } = self
        else {
            return Vec2::ZERO;
        };
        let [x, y] = parameters.map(|parameter| float(values, parameter));
        match shape {
            BlendShape::Line(_) => Vec2::new(x, 0.0),
            BlendShape::Plane(_) => Vec2::new(x, y),
        }
    }
}

impl State {
    /// Cycles per second. A motion without a duration counts as one second long.
    pub(super) fn rate_hz(&self, values: &[Value]) -> f64 {
        let parts = clips(&self.motion, values);
        let cycle_s = cycle_duration_s(parts.map(|(clip, weight)| (weight, clip.duration_s)));
        let cycle_s = if cycle_s > 0.0 { cycle_s } else { 1.0 };
        let followed = self.ground.map_or(1.0, |ground| {
            let wanted_m_s = match ground.parameter {
                Some(parameter) => float(values, parameter),
                None => self.motion.position(values).length(),
            };
            ground.playback_speed(parts, wanted_m_s)
        });
        let rate = self.speed.value(values) * followed / cycle_s;
        rate.clamp(-MAX_RATE_HZ, MAX_RATE_HZ)
    }
}

impl Ground {
    fn playback_speed(&self, parts: [(Played, f32); 3], wanted_m_s: f32) -> f64 {
        let strides = parts.map(|(clip, weight)| Stride {
            weight,
            duration_s: clip.duration_s,
            velocity: clip.velocity,
        });
        playback_speed(strides, wanted_m_s.into(), self.limits)
    }
}

/// Sets the rate of everything that a layer plays, from `time_s` on.
pub(super) fn set_rates(layer: &Layer, state: &mut LayerState, values: &[Value], time_s: f64) {
    let own = |play: &Play| layer.state(play).rate_hz(values);
    let lead = own(&state.current);
    state.current.set_rate(time_s, lead);
    for source in state.fading.live_mut() {
        let rate = match source.play.pace {
            Pace::Own => own(&source.play),
            Pace::Synced => lead,
            Pace::Held => source.play.rate_hz,
        };
        source.play.set_rate(time_s, rate);
    }
}

/// Converts a phase to a position in the motion, 0 to 1: the time in a clip of 1 s.
pub(super) fn position(wrap: LoopMode, phase: f64) -> f64 {
    wrap.clip_time_s(phase, 1.0)
}

/// The start phase of a state that takes over the phase of another.
pub(super) fn taken_over(from: LoopMode, phase: f64, to: LoopMode) -> f64 {
    if from == LoopMode::PingPong && to == LoopMode::PingPong {
        // Keeps the direction.
        to.cycle_time_s(phase, 1.0)
    } else {
        position(from, phase)
    }
}

/// True if the state was entered at this phase and its rate has not moved it away.
fn entered_at(play: &Play, phase: f64) -> bool {
    let near = |other: f64| (other - play.entered).abs() <= NEAR;
    near(phase) && near(play.phase)
}

/// True if an exit time is met once in every cycle; false if it is met only once.
pub(super) fn recurs(wrap: LoopMode, exit: f64) -> bool {
    wrap != LoopMode::Once && exit < 1.0
}

/// The time from which a state is past an exit time that does not recur.
///
/// Infinite if the state never reaches it.
pub(super) fn passed_from(play: &Play, exit: f64) -> f64 {
    let rate = play.rate_hz;
    if rate == 0.0 {
        let passed = play.phase >= exit;
        return if passed {
            f64::NEG_INFINITY
        } else {
            f64::INFINITY
        };
    }
    let goal = if rate > 0.0 { exit } else { 1.0 - exit };
    if entered_at(play, goal) {
        return f64::NEG_INFINITY;
    }
    play.anchor_s + (goal - play.phase) / rate
}

impl Layer {
    /// The time at which a state that plays once reaches its end, at which an exit time of 1 is
    /// met, too. Infinite if it never does.
    pub(super) fn end_s(&self, play: &Play) -> f64 {
        match self.state(play).wrap {
            LoopMode::Once if play.rate_hz != 0.0 => passed_from(play, 1.0),
            _ => f64::INFINITY,
        }
    }
}

/// The next time after `since_s` at which a state meets a recurring exit time.
///
/// Infinite if it never does. The phase at which the state was entered does not count as met.
pub(super) fn next_met(play: &Play, wrap: LoopMode, exit: f64, since_s: f64) -> f64 {
    match wrap {
        // Ping-pong passes the phase twice in two cycles, once in each direction.
        LoopMode::PingPong => {
            let forth = next_of(play, exit, 2.0, since_s);
            forth.min(next_of(play, -exit, 2.0, since_s))
        }
        LoopMode::Loop | LoopMode::Once => next_of(play, exit, 1.0, since_s),
    }
}

/// The next time after `since_s` at which the phase is `first` plus a multiple of `period`.
fn next_of(play: &Play, first: f64, period: f64, since_s: f64) -> f64 {
    let rate = play.rate_hz;
    if rate == 0.0 {
        return f64::INFINITY;
    }
    let loops = (play.phase_at(since_s) - first) / period;
    let (nearest, step) = if rate > 0.0 {
        (loops.floor(), 1.0)
    } else {
        (loops.ceil(), -1.0)
    };
    // The division above may be off by one cycle, and the phase of entry does not count. Times are
    // compared, not phases, so that no time is met twice.
    for ahead in 0..4 {
        let phase = first + (nearest + step * f64::from(ahead)) * period;
        let time = play.anchor_s + (phase - play.phase) / rate;
        if time > since_s && !entered_at(play, phase) {
            return time;
        }
    }
    f64::INFINITY
}
