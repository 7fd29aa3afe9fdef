//! Values that go over into others, as a closed form of time.

/// How a value goes from one to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum Ease {
    /// Evenly.
    Linear,
    /// Slowly at both ends: 3u² − 2u³ (smoothstep).
    #[default]
    Smooth,
}

impl Ease {
    /// How much of the way is gone after the part `u` of the time; 0..=1 to 0..=1.
    #[must_use]
    pub fn at(self, u: f64) -> f64 {
        match self {
            Self::Linear => u,
            Self::Smooth => u * u * (3.0 - 2.0 * u),
        }
    }

    /// The integral of [`Self::at`] from 0 to `u`, which is in 0..=1: a half at 1.
    pub(super) fn integral(self, u: f64) -> f64 {
        match self {
            Self::Linear => 0.5 * u * u,
            Self::Smooth => u * u * u * (1.0 - 0.5 * u),
        }
    }
}

/// A weight that goes from one value to another, or stays. Closed-form in time.
///
/// ```
/// use throng::pose::{Ease, Ramp};
///
/// let fade_in = Ramp::new(0.0, 1.0, 10.0, 0.5, Ease::Linear);
/// assert_eq!([9.0, 10.25, 11.0].map(|now_s| fade_in.at(now_s)), [0.0, 0.5, 1.0]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ramp {
    /// The value until `start_s`.
    pub from: f32,
    /// The value from `start_s + duration_s` on.
    pub to: f32,
    /// The engine's time at which it starts, in seconds.
    pub start_s: f64,
    /// How long it takes, in seconds; 0 or less is a step.
    pub duration_s: f64,
    /// How it goes.
    pub ease: Ease,
}

impl Ramp {
    /// Always 1.
    pub const ONE: Self = Self::constant(1.0);

    /// Always `value`.
    #[must_use]
    pub const fn constant(value: f32) -> Self {
        Self::new(value, value, 0.0, 0.0, Ease::Linear)
    }

    /// From one value to another.
    #[must_use]
    pub const fn new(from: f32, to: f32, start_s: f64, duration_s: f64, ease: Ease) -> Self {
        Self {
            from,
            to,
            start_s,
            duration_s,
            ease,
        }
    }

    /// The value at the engine's `now_s`. Not a number counts as 0.
    #[must_use]
    pub fn at(&self, now_s: f64) -> f32 {
        match self.part(now_s) {
            // Not by the sum below, which could miss it by a rounding.
            part if part <= 0.0 => self.from,
            part if part >= 1.0 => self.to,
            part => {
                let (from, to) = (f64::from(self.from), f64::from(self.to));
                (from + (to - from) * self.ease.at(part)) as f32
            }
        }
    }

    /// Whether it has come to its end.
    #[must_use]
    pub fn has_ended(&self, now_s: f64) -> bool {
        self.part(now_s) >= 1.0
    }

    /// From the value that it has at `now_s` to another: the value does not jump.
    #[must_use]
    pub fn turned(&self, now_s: f64, to: f32, duration_s: f64, ease: Ease) -> Self {
        Self::new(self.at(now_s), to, now_s, duration_s, ease)
    }

    fn part(&self, now_s: f64) -> f64 {
        part(now_s, self.start_s, self.duration_s)
    }
}

/// How much of a time that starts at `start_s` and lasts `duration_s` is over, in 0..=1.
pub(super) fn part(now_s: f64, start_s: f64, duration_s: f64) -> f64 {
    let now_s = if now_s.is_nan() { 0.0 } else { now_s };
    let part = (now_s - start_s) / duration_s;
    if duration_s > 0.0 && part.is_finite() {
        part.clamp(0.0, 1.0)
    } else if now_s < start_s {
        0.0
    } else {
        1.0
    }
}
