//! The animate stage's other half: a clip's curves at a time → morph weights.

use super::animate::{Playhead, Span, find, hermite};
use crate::character::{CurveClip, Interpolation, WeightTrack};
use crate::error::{Error, Result};
use std::ops::Range;

/// Samples `clip` at `time_s` (the clip's own time; before the first and after the last key of a
/// track that key holds) and overwrites what its tracks drive in `weights`, one for each of
/// [`Character::morph_weights`](crate::character::Character::morph_weights). The others stay as they are.
///
/// Interpolation is glTF 2.0's (appendix C): step, linear, and cubic Hermite splines, for each weight
/// alone. On a key, the result is that key's. A time that is not a number counts as 0.
///
/// # Errors
/// [`Error::NotFound`] if the clip drives a weight that `weights` does not have; nothing is written
/// then.
pub fn animate_weights(clip: &CurveClip, time_s: f64, weights: &mut [f32]) -> Result<()> {
    let time_s = if time_s.is_nan() { 0.0 } else { time_s };
    // Tracks are sorted and do not overlap: where the last one's weights exist, all do.
    if let Some(last) = clip.weight_tracks().last() {
        let end = u64::from(last.first_weight) + u64::from(last.count);
        if end > weights.len() as u64 {
            return Err(Error::NotFound {
                what: "morph weight",
                index: end - 1,
                count: weights.len() as u64,
            });
        }
    }
    let at = &mut Playhead { time_s, key: 0 };
    for track in clip.weight_tracks() {
        let range = weight_range(track);
        let out = &mut weights[range.clone()];
        sample_weights(track, at, 0..range.len(), |number, value| {
            out[number] = value
        });
    }
    Ok(())
}

/// The weights that a track drives.
pub(super) fn weight_range(track: &WeightTrack) -> Range<usize> {
    let first = track.first_weight as usize;
    first..first + track.count as usize
}

/// Calls `each` with the number, from the track's first, and the value of some of a track's weights. The time is a number.
pub(super) fn sample_weights(
    track: &WeightTrack,
    at: &mut Playhead,
    which: Range<usize>,
    mut each: impl FnMut(usize, f32),
) {
    let (keys, count) = (&track.keys, track.count as usize);
    let cubic = keys.interpolation == Interpolation::CubicSpline;
    // In rows of one number a weight: one row a key, or three.
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
