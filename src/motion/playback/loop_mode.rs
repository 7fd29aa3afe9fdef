//! Loop modes, and the only code that wraps clip time.

/// The behaviour past the end of a clip.
///
/// # Unwrapped clip time
/// *Unwrapped* time keeps counting when a clip starts over: cycle `k` of a clip of duration `D` is
/// `k·D..(k + 1)·D`, also for negative `k`. Unwrapped time is `(now − start) · speed + offset`.
///
/// A step between two unwrapped times says how far a clip moved, backward if the second is less.
/// The loop mode maps an unwrapped time to a time of the clip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
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
