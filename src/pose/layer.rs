//! Layers: which clip an instance plays, as a closed form of time.

use super::ramp::{Ease, Ramp};
use super::sample_list::ClipSample;

/// What happens past the end of a clip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum LoopMode {
    /// Starts over: the clip's time is taken modulo its duration.
    #[default]
    Loop,
    /// Holds the last pose (or the first, when played backwards).
    Once,
    /// Turns round at each end.
    PingPong,
}

/// A clip playing on an instance. Closed-form in time: the pose depends on nothing but these values and the time
/// asked for, so a paused, saved or jumped clock gives the same pose. All times are `f64`: within 30 days of its
/// start, at up to four times the speed, the clip's time is exact to 1e-8 s.
///
/// ```
/// use throng::pose::{Layer, LoopMode};
///
/// // From 10 s on, once and backwards from the clip's end at 2 s, faded in over 0.25 s.
/// let layer = Layer::new(3, 10.0)
///     .with_offset(2.0)
///     .with_speed(-1.0)
///     .with_loop_mode(LoopMode::Once)
///     .fade_in(10.0, 0.25);
/// let sample = layer.sample(11.5, 2.0);
/// assert_eq!((sample.clip, sample.time_s, sample.weight), (3, 0.5, 1.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Layer {
    /// Index into the character's clips.
    pub clip: usize,
    /// The engine's time, in seconds, at which the layer stands at `offset_s`.
    pub start_s: f64,
    /// Where in the clip it starts, in seconds.
    pub offset_s: f64,
    /// Clip seconds per second; negative plays backwards, 0 holds.
    pub speed: f64,
    /// What happens past the end.
    pub loop_mode: LoopMode,
    /// Its part in the blend; see [`ClipSample::weight`].
    pub weight: Ramp,
    /// Which joints it is for; see [`ClipSample::mask`].
    pub mask: Option<u16>,
    /// Which level it belongs to; see [`ClipSample::level`].
    pub level: u8,
}

impl Layer {
    /// `clip` from its start at `start_s`, at normal speed, in a loop; with weight 1 on the first level, for all joints.
    #[must_use]
    pub const fn new(clip: usize, start_s: f64) -> Self {
        Self {
            clip,
            start_s,
            offset_s: 0.0,
            speed: 1.0,
            loop_mode: LoopMode::Loop,
            weight: Ramp::ONE,
            mask: None,
            level: 0,
        }
    }

    /// The same from elsewhere in the clip, in seconds.
    #[must_use]
    pub const fn with_offset(self, offset_s: f64) -> Self {
        Self { offset_s, ..self }
    }

    /// The same at this speed, from its start on.
    #[must_use]
    pub const fn with_speed(self, speed: f64) -> Self {
        Self { speed, ..self }
    }

    /// The same with something else past the end.
    #[must_use]
    pub const fn with_loop_mode(self, loop_mode: LoopMode) -> Self {
        Self { loop_mode, ..self }
    }

    /// The same with this weight.
    #[must_use]
    pub const fn with_weight(self, weight: Ramp) -> Self {
        Self { weight, ..self }
    }

    /// The same for the joints of a mask.
    #[must_use]
    pub const fn with_mask(self, mask: u16) -> Self {
        Self {
            mask: Some(mask),
            ..self
        }
    }

    /// The same on another level.
    #[must_use]
    pub const fn on_level(self, level: u8) -> Self {
        Self { level, ..self }
    }

    /// The same with a weight that goes smoothly from 0 at `now_s` to where it was to lead, in `seconds`.
    #[must_use]
    pub const fn fade_in(self, now_s: f64, seconds: f64) -> Self {
        let weight = Ramp::new(0.0, self.weight.to, now_s, seconds, Ease::Smooth);
        self.with_weight(weight)
    }

    /// The same with a weight that goes smoothly from what it is at `now_s` to 0, in `seconds`.
    #[must_use]
    pub fn fade_out(self, now_s: f64, seconds: f64) -> Self {
        let weight = self.weight.turned(now_s, 0.0, seconds, Ease::Smooth);
        self.with_weight(weight)
    }

    /// The same at another speed from `now_s` on, for a clip that lasts `duration_s`: it goes on from where it is then. With
    /// speed 0, a pause.
    #[must_use]
    pub fn re_timed(self, now_s: f64, speed: f64, duration_s: impl Into<f64>) -> Self {
        // With the direction of ping-pong, which the clip's own time does not tell.
        let unwrapped_s = self.unwrapped_s(now_s);
        let cycle_time_s = |time_s| self.loop_mode.cycle_time_s(time_s, duration_s.into());
        Self {
            start_s: now_s,
            offset_s: unwrapped_s.map_or(0.0, cycle_time_s),
            speed,
            ..self
        }
    }

    /// The clip's own time at the engine's `now_s`, for a clip that lasts `duration_s`: in
    /// `0..=duration_s`. Computed in `f64`, so that it stays exact for months: see
    /// [`LoopMode::clip_time_s`].
    ///
    /// 0 where there is no such time: for a clip that has no positive, finite duration, and where
    /// the layer's values or `now_s` are not finite or overflow.
    #[must_use]
    pub fn clip_time_s(&self, now_s: f64, duration_s: impl Into<f64>) -> f64 {
        let unwrapped_s = self.unwrapped_s(now_s);
        unwrapped_s.map_or(0.0, |time_s| {
            self.loop_mode.clip_time_s(time_s, duration_s.into())
        })
    }

    /// Its part in the blend at the engine's `now_s`.
    #[must_use]
    pub fn weight_at(&self, now_s: f64) -> f32 {
        self.weight.at(now_s)
    }

    /// What it plays at the engine's `now_s`, for a clip that lasts `duration_s`.
    #[must_use]
    pub fn sample(&self, now_s: f64, duration_s: impl Into<f64>) -> ClipSample {
        ClipSample {
            clip: self.clip,
            time_s: self.clip_time_s(now_s, duration_s),
            weight: self.weight_at(now_s),
            mask: self.mask,
            level: self.level,
        }
    }
}
