//! Clips that keep step: one phase for all, with the duration of the blended cycle.

use super::ramp::{Ease, part};

/// How long a cycle of clips takes that are blended in step, in seconds: the mean of their durations, each with its
/// weight, as (weight, seconds). Each clip then stands at the phase times its own duration, so that feet of a walk and a
/// run that touch the ground at the same phase do so together, and the blend's do not slide.
///
/// Pairs whose weight or duration is not positive and finite do not count; 0 where none does.
///
/// ```
/// use throng::pose::{BlendSpace1, SyncAnchor, cycle_duration_s};
///
/// let speeds = BlendSpace1::new(&[1.5, 4.0])?; // walk, run
/// let durations_s = [1.2, 0.8];
/// let both = speeds.at(2.75);
/// let cycle_s = cycle_duration_s(both.map(|(clip, weight)| (weight, durations_s[clip])));
/// assert_eq!(cycle_s, 1.0);
///
/// // Since 10 s at this rate: after a quarter of a cycle, each clip is at a quarter of its own.
/// let phase = SyncAnchor::new(0.0, 10.0, 1.0 / cycle_s).phase(10.25);
/// assert_eq!(durations_s.map(|duration_s| phase * duration_s), [0.3, 0.2]);
/// # Ok::<(), throng::Error>(())
/// ```
pub fn cycle_duration_s(parts: impl IntoIterator<Item = (f32, f64)>) -> f64 {
    let counts = |value: f64| value > 0.0 && value.is_finite();
    let (mut sum, mut total) = (0.0, 0.0);
    for (weight, duration_s) in parts {
        let weight = f64::from(weight);
        if counts(weight) && counts(duration_s) {
            // The mean so far, moved: no sum overflows.
            total += weight;
            sum += (duration_s - sum) * (weight / total);
        }
    }
    sum
}

/// The phase that clips in step share, closed-form in time from where it last changed: a phase at a time, and the
/// rate since.
///
/// A change of the rate writes a new anchor, at once or over a time; the phase goes on from where it was. So any jump
/// of the clock after it gives the pose that the time asks for. In `f64`: 30 days after the anchor, at up to 4 cycles
/// a second, the phase is exact to 2e-9 of a cycle.
///
/// While the rate changes, it goes from one to the other with the same [`Ease`] as a cross-fade's weights, and the phase
/// is its integral, a polynomial. (The integral of one over the mean duration would not be one. The two rates agree at both
/// ends of a fade, and between a walk of 1.2 s and a run of 0.8 s are at most 4.2 % apart.)
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SyncAnchor {
    /// The phase at `time_s`: 0 at a cycle's start, 1 at its end.
    pub phase: f64,
    /// The engine's time of the anchor, in seconds.
    pub time_s: f64,
    /// Cycles a second until `time_s`; negative runs backwards.
    pub from_hz: f64,
    /// Cycles a second from `time_s + over_s` on.
    pub to_hz: f64,
    /// How long the rate takes to change, in seconds; 0 for at once.
    pub over_s: f64,
    /// How it changes.
    pub ease: Ease,
}

impl SyncAnchor {
    /// At `phase` at `time_s`, with a rate in cycles a second.
    #[must_use]
    pub const fn new(phase: f64, time_s: f64, rate_hz: f64) -> Self {
        Self {
            phase,
            time_s,
            from_hz: rate_hz,
            to_hz: rate_hz,
            over_s: 0.0,
            ease: Ease::Linear,
        }
    }

    /// The phase at the engine's `now_s`, in 0..1; 0 where there is none, as values are not finite or overflow.
    #[must_use]
    pub fn phase(&self, now_s: f64) -> f64 {
        let phase = (self.phase + self.cycles(now_s)).rem_euclid(1.0);
        // A little less than 0 rounds to 1.
        if phase < 1.0 { phase } else { 0.0 }
    }

    /// Cycles a second at the engine's `now_s`.
    #[must_use]
    pub fn rate_hz(&self, now_s: f64) -> f64 {
        let part = self.ease.at(part(now_s, self.time_s, self.over_s));
        // Exact at both ends.
        self.from_hz * (1.0 - part) + self.to_hz * part
    }

    /// From `now_s` on at another rate.
    #[must_use]
    pub fn re_anchored(&self, now_s: f64, rate_hz: f64) -> Self {
        Self::new(self.phase(now_s), now_s, rate_hz)
    }

    /// From `now_s` on with a rate that goes from what it is then to another: neither phase nor rate jumps.
    #[must_use]
    pub fn re_anchored_over(&self, now_s: f64, rate_hz: f64, over_s: f64, ease: Ease) -> Self {
        Self {
            phase: self.phase(now_s),
            time_s: now_s,
            from_hz: self.rate_hz(now_s),
            to_hz: rate_hz,
            over_s,
            ease,
        }
    }

    /// Cycles since the anchor.
    pub(crate) fn cycles(&self, now_s: f64) -> f64 {
        let now_s = if now_s.is_nan() { 0.0 } else { now_s };
        let since = now_s - self.time_s;
        let over = if self.over_s > 0.0 { self.over_s } else { 0.0 };
        // A change that takes for ever has not begun.
        if since <= 0.0 || over.is_infinite() {
            return self.from_hz * since;
        }
        if since >= over {
            let mean = 0.5 * (self.from_hz + self.to_hz);
            return mean * over + self.to_hz * (since - over);
        }
        let eased = self.ease.integral(since / over) * over;
        self.from_hz * since + (self.to_hz - self.from_hz) * eased
    }
}
