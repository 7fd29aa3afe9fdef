//! The morph weights of a clip at a time.

use super::curve_sample::{Playhead, sample_weights};
use super::packed::Clip;
use super::weights::WeightKeys;
use crate::id::Id;
use crate::mesh::MorphWeight;
use std::ops::Range;

impl Clip {
    /// Returns true if the clip drives morph weights.
    pub(crate) fn drives_weights(&self) -> bool {
        !self.weights.is_empty()
    }

    /// Samples the morph weights at `time_s` and passes them to `each`.
    ///
    /// `each` gets the id and the value of every weight that the clip drives, in ascending order.
    /// `time_s` is clamped to the clip, and NaN counts as 0. For an additive clip, the
    /// values are differences from the weights of its reference.
    ///
    /// A weight is off by at most 1e-3 from the file's curves, and by less if a target moves
    /// vertices far: see [`ClipOptions::error_m`](crate::clip::ClipOptions::error_m). Nothing is
    /// allocated, and all times take equally long.
    pub fn sample_weights(&self, time_s: f64, mut each: impl FnMut(Id<MorphWeight>, f32)) {
        self.sample_weights_in(time_s, 0..usize::MAX, |weight, value| {
            each(Id::new(weight as u16), value);
        });
    }

    /// Does the same for the weights that lie in a range, and passes indices.
    pub(crate) fn sample_weights_in(
        &self,
        time_s: f64,
        range: Range<usize>,
        mut each: impl FnMut(usize, f32),
    ) {
        let time_s = if time_s.is_nan() { 0.0 } else { time_s };
        for keys in &self.weights {
            let all = keys.range();
            // The weights that lie in the range, counted from the first of these.
            let [start, end] =
                [range.start, range.end].map(|end| end.clamp(all.start, all.end) - all.start);
            if start >= end {
                continue;
            }
            let each = |number, value| each(all.start + number, value);
            match keys {
                WeightKeys::Even(even) => even.sample(time_s, start..end, each),
                WeightKeys::Curve(track) => {
                    let at = &mut Playhead { time_s, key: 0 };
                    sample_weights(track, at, start..end, each);
                }
            }
        }
    }
}
