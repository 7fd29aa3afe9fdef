//! Transitions between two values, closed-form in time.

use crate::error::{Result, expect_finite, expect_in};

/// The longest fade or inertialised transition, in seconds. In a longer one, `f32` cannot
/// distinguish successive frames.
pub(crate) const MAX_FADE_S: f32 = 3600.0;

/// The curve of a transition from one value to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum Ease {
    /// At a constant rate.
    Linear,
    /// Slow at both ends: 3u² − 2u³ (smoothstep).
    #[default]
    Smooth,
}

impl Ease {
    /// The fraction of the transition done after a fraction of its time.
    ///
    /// `u` is the fraction of the time. Maps 0..=1 to 0..=1.
    #[must_use]
    #[inline]
    pub fn at(self, u: f64) -> f64 {
        match self {
            Self::Linear => u,
            Self::Smooth => u * u * (3.0 - 2.0 * u),
        }
    }

    /// The integral of [`Self::at`] from 0 to `u`, for `u` in 0..=1. It is a half at 1.
    pub(crate) fn integral(self, u: f64) -> f64 {
        match self {
            Self::Linear => 0.5 * u * u,
            Self::Smooth => u * u * u * (1.0 - 0.5 * u),
        }
    }
}

/// A weight that changes from one value to another, closed-form in time.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Ramp {
    /// The value until `start_s`.
    pub(crate) from: f32,
    /// The value from `start_s + duration_s` on.
    pub(crate) to: f32,
    /// The start of the change, in seconds of the engine's time.
    pub(crate) start_s: f64,
    /// Duration of the change, in seconds. 0 or less is a step.
    pub(crate) duration_s: f64,
    /// The curve of the change.
    pub(crate) ease: Ease,
}

impl Ramp {
    /// A ramp that always has this value.
    pub(crate) const fn constant(value: f32) -> Self {
        Self::new(value, value, 0.0, 0.0, Ease::Linear)
    }

    /// A ramp from one value to another.
    pub(crate) const fn new(from: f32, to: f32, start_s: f64, duration_s: f64, ease: Ease) -> Self {
        Self {
            from,
            to,
            start_s,
            duration_s,
            ease,
        }
    }

    /// Checks a ramp that was saved. Its values lie in `-most..=most`.
    pub(crate) fn check(&self, what: &'static str, most: f32) -> Result<()> {
        for value in [self.from, self.to] {
            expect_in(what, value, -most, most)?;
        }
        [self.start_s, self.duration_s]
            .into_iter()
            .try_for_each(|time_s| expect_finite(what, time_s))
    }

    /// The value at the engine's time `now_s`. NaN counts as 0.
    #[inline]
    pub(crate) fn at(&self, now_s: f64) -> f32 {
        match self.part(now_s) {
            // The ends are returned directly, because the sum below could miss them by a rounding
            // error.
            part if part <= 0.0 => self.from,
            part if part >= 1.0 => self.to,
            part => {
                let (from, to) = (f64::from(self.from), f64::from(self.to));
                (from + (to - from) * self.ease.at(part)) as f32
            }
        }
    }

    /// Returns true if the change has ended.
    pub(crate) fn has_ended(&self, now_s: f64) -> bool {
        self.part(now_s) >= 1.0
    }

    /// A new ramp to `to` that starts with the value at `now_s`, so that the value does not jump.
    pub(crate) fn turned(&self, now_s: f64, to: f32, duration_s: f64, ease: Ease) -> Self {
        Self::new(self.at(now_s), to, now_s, duration_s, ease)
    }

    fn part(&self, now_s: f64) -> f64 {
        part(now_s, self.start_s, self.duration_s)
    }
}

/// The elapsed fraction of an interval that starts at `start_s`, in 0..=1.
#[inline]
fn part(now_s: f64, start_s: f64, duration_s: f64) -> f64 {
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

/// A speed that changes from one value to another. The distance is closed-form in time.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct SpeedRamp {
    /// The speed until `start_s`.
    pub(crate) from: f64,
    /// The speed from `start_s + duration_s` on.
    pub(crate) to: f64,
    /// The start of the change, in seconds.
    pub(crate) start_s: f64,
    /// Duration of the change, in seconds. 0 means at once.
    pub(crate) duration_s: f64,
    /// The curve of the change.
    pub(crate) ease: Ease,
}

impl SpeedRamp {
    /// A ramp that always has this speed. Its distance is measured from `start_s`.
    pub(crate) const fn constant(speed: f64, start_s: f64) -> Self {
        Self {
            from: speed,
            to: speed,
            start_s,
            duration_s: 0.0,
            ease: Ease::Linear,
        }
    }

    /// The speed at `now_s`.
    pub(crate) fn at(&self, now_s: f64) -> f64 {
        let part = self.ease.at(part(now_s, self.start_s, self.duration_s));
        // This form is exact at both ends.
        self.from * (1.0 - part) + self.to * part
    }

    /// The distance covered from `start_s` to `now_s`: the integral of the speed.
    pub(crate) fn way(&self, now_s: f64) -> f64 {
        let now_s = if now_s.is_nan() { 0.0 } else { now_s };
        let since = now_s - self.start_s;
        let over = if self.duration_s > 0.0 {
            self.duration_s
        } else {
            0.0
        };
        // A change of infinite duration never begins.
        if since <= 0.0 || over.is_infinite() {
            return self.from * since;
        }
        if since >= over {
            let mean = 0.5 * (self.from + self.to);
            return mean * over + self.to * (since - over);
        }
        let eased = self.ease.integral(since / over) * over;
        self.from * since + (self.to - self.from) * eased
    }
}
