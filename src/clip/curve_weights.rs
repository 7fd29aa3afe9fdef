//! Evaluates the file's curves: a time → morph weights.

use super::curve::{CurveClip, Interpolation, WeightTrack};
use super::curve_sample::{Playhead, Span, find, hermite};
use crate::id::Id;
use crate::mesh::MorphWeight;
use std::ops::Range;

impl CurveClip {
    /// Samples the morph weights at `time_s` and passes each to `each`.
    ///
    /// `each` gets the id and the value of every weight that the clip drives, in ascending order.
    ///
    /// `time_s` is the time in the clip, in seconds. Before its first key, a track holds the value
    /// of that key; after its last key, the value of the last. NaN counts as 0.
    ///
    /// Interpolation follows glTF 2.0 (appendix C), for each weight separately: step, linear, and
    /// cubic Hermite splines. On a key, the result is exactly the value of that key.
    pub fn sample_weights(&self, time_s: f64, mut each: impl FnMut(Id<MorphWeight>, f32)) {
        let time_s = if time_s.is_nan() { 0.0 } else { time_s };
        let at = &mut Playhead { time_s, key: 0 };
        for track in self.weight_tracks() {
            let range = weight_range(track);
            sample_weights(track, at, 0..range.len(), |number, value| {
                each(Id::new((range.start + number) as u16), value);
            });
        }
    }
}

/// The range of weights that a track drives.
pub(super) fn weight_range(track: &WeightTrack) -> Range<usize> {
    let first = track.first_weight.index();
    first..first + track.count as usize
}

/// Samples the weights of a track that lie in a range and passes them to `each`.
///
/// Indices count from the track's first weight. The time is not NaN.
pub(super) fn sample_weights(
    track: &WeightTrack,
    at: &mut Playhead,
    which: Range<usize>,
    mut each: impl FnMut(usize, f32),
) {
    let (keys, count) = (&track.keys, track.count as usize);
    let cubic = keys.interpolation == Interpolation::CubicSpline;
    // Values are stored in rows of one number per weight: one row per key, or three for splines.
    let row = |row: usize| &keys.values[row * count..(row + 1) * count];
    let value = |key: usize| row(if cubic { key * 3 + 1 } else { key });
    match (keys.interpolation, find(&keys.times_s, at)) {
        (_, Span::At(key)) | (Interpolation::Step, Span::Between { from: key, .. }) => {
            let value = value(key);
            which.for_each(|number| each(number, value[number]));
        }
        (Interpolation::Linear, Span::Between { from, u, .. }) => {
            let (from, to) = (value(from), value(from + 1));
            which.for_each(|number| each(number, from[number] * (1.0 - u) + to[number] * u));
        }
        (Interpolation::CubicSpline, Span::Between { from, u, length_s }) => {
            let (leaving, arriving) = (row(from * 3 + 2), row(from * 3 + 3));
            let (from, to) = (value(from), value(from + 1));
            for k in which {
                let value = hermite(from[k], leaving[k], arriving[k], to[k], u, length_s);
                each(k, value);
            }
        }
    }
}
