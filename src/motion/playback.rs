//! Playback: how time passes in a clip, how fades go on, and the shared phase of clips.

use crate::error::{Result, expect_all_finite, expect_in};

/// The behaviour past the end of a clip.
///
/// # Unwrapped clip time
/// *Unwrapped* time keeps counting when a clip starts over: cycle `k` of a clip of duration `D` is
/// `k·D..(k + 1)·D`, also for negative `k`. Unwrapped time is `(now − start) · speed + offset`.
///
/// A step between two unwrapped times says how far a clip moved, backward if the second is less.
/// The loop mode maps an unwrapped time to a time of the clip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum LoopMode {
    /// Starts over: the clip's time is the unwrapped time modulo the duration.
    #[default]
    Loop,
    /// Holds the last pose (or the first, when played backwards).
    Once,
    /// Reverses direction at each end.
    PingPong,
}

impl LoopMode {
    /// The clip's own time at an unwrapped time, in `0..=duration_s`.
    ///
    /// It is exact for any age: the remainder is rounded once, and on the way back of
    /// [`PingPong`](Self::PingPong) twice. Times beyond 2⁴⁸ cycles are clamped to that.
    ///
    /// Returns 0 if the unwrapped time is not a number, or if the duration is not positive and
    /// finite in `f32`.
    #[must_use]
    #[inline]
    pub fn clip_time_s(self, unwrapped_s: f64, duration_s: f64) -> f64 {
        let time_s = self.cycle_time_s(unwrapped_s, duration_s);
        // Only ping-pong goes past the clip's end. A time of 0 can mean an invalid duration.
        let is_way_back = time_s > 0.0 && time_s > duration_s;
        if is_way_back {
            2.0 * duration_s - time_s
        } else {
            time_s
        }
    }

    /// The time within the interval after which everything repeats.
    ///
    /// It equals [`Self::clip_time_s`], except on the way back of [`PingPong`](Self::PingPong),
    /// which continues after the way there, in `0..2 × duration_s`. So it also tells the direction.
    #[inline]
    pub(crate) fn cycle_time_s(self, unwrapped_s: f64, duration_s: f64) -> f64 {
        if unwrapped_s.is_nan() || !has_passes(duration_s) {
            return 0.0;
        }
        match self {
            Self::Loop => fold(unwrapped_s, duration_s).1,
            Self::Once => unwrapped_s.clamp(0.0, duration_s),
            Self::PingPong => fold(unwrapped_s, 2.0 * duration_s).1,
        }
    }
}

/// The largest distance of unwrapped time from 0, in cycles.
///
/// It is long enough for any clock, and short enough for the number of a cycle to be exact.
pub(crate) const MAX_PASSES: f64 = (1_u64 << 48) as f64;

/// Numbers of cycles below this have 29 bits. Times a number of 24 bits, the product has 53.
const EXACT_PASSES: f64 = (1_u64 << 29) as f64;

/// Returns true if a clip of this duration can repeat. Clips have their duration in `f32`.
pub(crate) fn has_passes(duration_s: f64) -> bool {
    duration_s > 0.0 && duration_s <= f64::from(f32::MAX)
}

/// Splits a time into the number of the cycle, and the time within it, in `0..length_s`.
///
/// The time must be a number, and the length must be positive and finite. The number of the cycle
/// is a whole number.
#[inline]
pub(crate) fn fold(unwrapped_s: f64, length_s: f64) -> (f64, f64) {
    if (0.0..length_s).contains(&unwrapped_s) {
        return (0.0, unwrapped_s);
    }
    let unwrapped_s = within(unwrapped_s, length_s);
    let passes = unwrapped_s / length_s;
    // Round down without a call: the value is at most 2⁴⁸ from 0.
    let whole = passes as i64 as f64;
    let pass = if whole > passes { whole - 1.0 } else { whole };
    // Round only once, in the result. A rounded product would add an error that grows with time.
    // With a length in `f32` and so few cycles, the product is exact.
    let is_exact = pass.abs() < EXACT_PASSES && f64::from(length_s as f32) == length_s;
    let time_s = if is_exact {
        unwrapped_s - pass * length_s
    } else {
        (-pass).mul_add(length_s, unwrapped_s)
    };
    if time_s < 0.0 {
        // The quotient was rounded up to a whole number.
        let time_s = time_s + length_s;
        return (pass - 1.0, if time_s < length_s { time_s } else { 0.0 });
    }
    if time_s >= length_s {
        return (pass + 1.0, 0.0);
    }
    (pass, time_s)
}

/// Clamps a time to at most [`MAX_PASSES`] cycles from 0.
pub(crate) fn within(unwrapped_s: f64, length_s: f64) -> f64 {
    let end_s = MAX_PASSES * length_s;
    unwrapped_s.clamp(-end_s, end_s)
}

/// The longest fade or inertialised transition, in seconds. In a longer one, `f32` cannot
/// distinguish successive frames.
pub(crate) const MAX_FADE_S: f32 = 3600.0;

/// The curve of a transition from one value to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
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
    #[inline]
    pub(crate) fn at(self, u: f64) -> f64 {
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

/// The shortest step of a value that moves in steps, in seconds, and the most steps of a movement.
const STEP_S: f64 = 1.0 / 128.0;
const MOST_STEPS: f64 = 256.0;

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
        expect_all_finite(what, [self.start_s, self.duration_s])
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

    /// The value of the step that `now_s` lies in: the value of [`Self::at`] in its middle.
    ///
    /// A parameter decides over rates and conditions, which must not depend on when updates happen.
    /// So it moves in steps. They begin at multiples of 1/128 s, or of a power of two of that if a
    /// movement had more than 256 of them otherwise, and the last ends with the movement.
    pub(crate) fn stepped(&self, now_s: f64) -> f32 {
        let end_s = self.start_s + self.duration_s;
        if !(self.start_s..end_s).contains(&now_s) {
            return if now_s < self.start_s {
                self.from
            } else {
                self.to
            };
        }
        let step_s = self.step_s();
        let first_s = (now_s / step_s).floor() * step_s;
        let (from_s, to_s) = (first_s.max(self.start_s), (first_s + step_s).min(end_s));
        self.at(from_s + 0.5 * (to_s - from_s))
    }

    /// The time after `now_s` at which the next step begins. Infinite after the last.
    pub(crate) fn next_step_s(&self, now_s: f64) -> f64 {
        let end_s = self.start_s + self.duration_s;
        if self.from == self.to || now_s >= end_s || now_s.is_nan() {
            return f64::INFINITY;
        }
        let step_s = self.step_s();
        let next_s = ((now_s.max(self.start_s) / step_s).floor() + 1.0) * step_s;
        // At times so large that a step is rounded away, the movement is a single step.
        if next_s > now_s {
            next_s.min(end_s)
        } else {
            end_s
        }
    }

    fn step_s(&self) -> f64 {
        let least_s = self.duration_s / MOST_STEPS;
        let mut step_s = STEP_S;
        while step_s < least_s {
            step_s *= 2.0;
        }
        step_s
    }

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

/// Duration of a cycle of synchronised clips, in seconds.
///
/// The clips are blended in step. The duration is the mean of the clips' durations, given as pairs
/// (weight, seconds). Each clip's time is then the phase times its own duration. If the feet of a
/// walk and a run touch the ground at the same phase, they do so together in the blend, and do not
/// slide.
///
/// Pairs whose weight or duration is not positive and finite are ignored. The result is 0 if no
/// pair is left.
pub(crate) fn cycle_duration_s(parts: impl IntoIterator<Item = (f32, f64)>) -> f64 {
    let counts = |value: f64| value > 0.0 && value.is_finite();
    let (mut sum, mut total) = (0.0, 0.0);
    for (weight, duration_s) in parts {
        let weight = f64::from(weight);
        if counts(weight) && counts(duration_s) {
            // A running mean, in which no sum overflows.
            total += weight;
            sum += (duration_s - sum) * (weight / total);
        }
    }
    sum
}
