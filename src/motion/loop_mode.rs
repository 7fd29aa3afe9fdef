//! What happens past the end of a clip, and the one place that wraps time.

/// What happens past the end of a clip.
///
/// # Unwrapped clip time
/// *Unwrapped* time counts on where a clip starts over: pass `k` of a clip of duration `D` is
/// `k·D..(k + 1)·D`, for negative `k` too. It is what `(now − start) · speed + offset` gives. A
/// step from one unwrapped time to another says where a clip went, backward if the second is less;
/// the loop mode says where in the clip that was.
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

impl LoopMode {
    /// The clip's own time, in `0..=duration_s`, at an unwrapped time.
    ///
    /// Exact for any age: the remainder is rounded once, and the way back of
    /// [`PingPong`](Self::PingPong) twice. Times beyond 2⁴⁸ passes count as that.
    ///
    /// 0 where there is no such time: the unwrapped time is not a number, or the duration is not
    /// positive and finite in `f32`.
    #[must_use]
    #[inline]
    pub fn clip_time_s(self, unwrapped_s: f64, duration_s: f64) -> f64 {
        let time_s = self.cycle_time_s(unwrapped_s, duration_s);
        // Only ping-pong gets past the clip's end, and 0 stands for no time.
        let is_way_back = time_s > 0.0 && time_s > duration_s;
        if is_way_back {
            2.0 * duration_s - time_s
        } else {
            time_s
        }
    }

    /// The time in the cycle, after which all repeats. That is [`Self::clip_time_s`], except that
    /// the way back of [`PingPong`](Self::PingPong) follows the way there, in `0..2 × duration_s`:
    /// so it tells the direction.
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

/// The most passes that unwrapped time can be from 0: far enough for any clock, and near enough for
/// a pass's number to be exact.
pub(crate) const MAX_PASSES: f64 = (1_u64 << 48) as f64;

/// Passes of 29 bits: times a number of 24 bits, the product has 53.
const EXACT_PASSES: f64 = (1_u64 << 29) as f64;

/// Whether a clip of this duration goes through passes at all: clips have it in `f32`.
pub(crate) fn has_passes(duration_s: f64) -> bool {
    duration_s > 0.0 && duration_s <= f64::from(f32::MAX)
}

/// The number of the pass, a whole number, and the time in it, in `0..length_s`. The time is a
/// number, the length positive and finite.
#[inline]
pub(crate) fn fold(unwrapped_s: f64, length_s: f64) -> (f64, f64) {
    if (0.0..length_s).contains(&unwrapped_s) {
        return (0.0, unwrapped_s);
    }
    let unwrapped_s = within(unwrapped_s, length_s);
    let passes = unwrapped_s / length_s;
    // Rounded down, without a call: at most 2⁴⁸ from 0.
    let whole = passes as i64 as f64;
    let pass = if whole > passes { whole - 1.0 } else { whole };
    // One rounding, of the result: a rounded product would be off by more, the later the more. That
    // of a length in `f32` is exact for so many passes.
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

/// The time, at most [`MAX_PASSES`] from 0.
pub(crate) fn within(unwrapped_s: f64, length_s: f64) -> f64 {
    let end_s = MAX_PASSES * length_s;
    unwrapped_s.clamp(-end_s, end_s)
}
