//! Unwrapped clip time: the time of a clip that runs on through its passes, and what becomes of it at the ends.
//!
//! [`LoopMode::clip_time_s`] is the one place that wraps time: layers, state machines (whose phases
//! are times in a clip of 1 s) and root motion use it.

use super::{Layer, LoopMode};

impl LoopMode {
    /// The clip's own time, in `0..=duration_s`, at an unwrapped time.
    ///
    /// Exact for any age: the remainder is rounded once, and the way back of
    /// [`PingPong`](Self::PingPong) twice. Times beyond 2⁴⁸ passes count as that.
    ///
    /// 0 where there is no such time: the unwrapped time is not a number, or the duration is not
    /// positive and finite in `f32`.
    #[must_use]
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

    /// The time in the cycle, after which all repeats. That is [`Self::clip_time_s`], except that the
    /// way back of [`PingPong`](Self::PingPong) follows the way there, in `0..2 × duration_s`: so it
    /// tells the direction.
    pub(super) fn cycle_time_s(self, unwrapped_s: f64, duration_s: f64) -> f64 {
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

/// A stretch of unwrapped clip time: from where to where a clip went. Backward where `to_s` is less.
///
/// *Unwrapped* time counts on where a clip starts over: pass `k` of a clip of duration `D` is `k·D..(k + 1)·D`, for
/// negative `k` too. It is what `(now − start) · speed + offset` gives, and says where the clip is and how it came
/// there; a [`LoopMode`] says what becomes of it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ClipSpan {
    /// Where it starts, in seconds.
    pub from_s: f64,
    /// Where it ends, in seconds.
    pub to_s: f64,
}

impl Layer {
    /// The unwrapped clip time at the engine's `now_s`: `(now − start) · speed + offset`, in `f64`. With times of up
    /// to 30 days, speeds of up to 1 and an offset of less than a day, it is within 1e-9 s of the exact value.
    /// `None` where that is not finite.
    #[must_use]
    pub fn unwrapped_s(&self, now_s: f64) -> Option<f64> {
        let unwrapped_s = (now_s - self.start_s) * self.speed + self.offset_s;
        unwrapped_s.is_finite().then_some(unwrapped_s)
    }

    /// What the layer goes through between two of the engine's times. A frame's span starts on the very bits where
    /// the one before it ended, as long as the layer is not changed: nothing is passed twice or left out.
    ///
    /// Where an end is not finite, the span is empty and lies at 0.
    ///
    /// ```
    /// use throng::pose::Layer;
    ///
    /// let layer = Layer { speed: -2.0, ..Layer::new(0, 10.0) };
    /// let span = layer.span(10.5, 11.0);
    /// assert_eq!((span.from_s, span.to_s), (-1.0, -2.0));
    /// ```
    #[must_use]
    pub fn span(&self, from_now_s: f64, to_now_s: f64) -> ClipSpan {
        match (self.unwrapped_s(from_now_s), self.unwrapped_s(to_now_s)) {
            (Some(from_s), Some(to_s)) => ClipSpan { from_s, to_s },
            _ => ClipSpan::default(),
        }
    }
}

/// The most passes that unwrapped time can be from 0: far enough for any clock, and near enough for a pass's number to
/// be exact.
pub(super) const MAX_PASSES: f64 = (1_u64 << 48) as f64;

/// Whether a clip of this duration goes through passes at all: clips have it in `f32`.
pub(super) fn has_passes(duration_s: f64) -> bool {
    duration_s > 0.0 && duration_s <= f64::from(f32::MAX)
}

/// The number of the pass, a whole number, and the time in it, in `0..length_s`. The time is a number, the length
/// positive and finite.
pub(super) fn fold(unwrapped_s: f64, length_s: f64) -> (f64, f64) {
    let unwrapped_s = within(unwrapped_s, length_s);
    let pass = (unwrapped_s / length_s).floor();
    // One rounding, of the result: the product alone would be off by more, the later the more.
    let time_s = (-pass).mul_add(length_s, unwrapped_s);
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
pub(super) fn within(unwrapped_s: f64, length_s: f64) -> f64 {
    let end_s = MAX_PASSES * length_s;
    unwrapped_s.clamp(-end_s, end_s)
}
