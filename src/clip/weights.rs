//! The morph weights of a clip, and reading them at a time.

use super::curve::WeightTrack;
use super::curve_sample::Playhead;
use super::curve_weights::{sample_weights, weight_range};
use super::packed::Clip;
use super::timing::Timing;
use std::ops::Range;

/// Bytes behind the last frame, so that four bytes can be read from where any field starts.
pub(super) const PADDING: usize = 4;
/// The widest field: `f32` has all its values, and with up to 7 bits before it, it lies in 32 bits.
pub(super) const MAX_BITS: u32 = 24;

/// The weights of one mesh in a clip.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum WeightKeys {
    Even(EvenWeights),
    /// As the file has it: a track that steps, or that is smaller this way.
    Curve(WeightTrack),
}

/// Weights at even times, as whole numbers of few bits.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct EvenWeights {
    pub(super) first_weight: u32,
    pub(super) timing: Timing,
    /// One for each weight.
    pub(super) columns: Vec<Column>,
    /// Bytes a frame.
    pub(super) stride: usize,
    /// Frame by frame, padded.
    pub(super) bytes: Vec<u8>,
}

/// What the fields of one weight mean: `min + scale * field`.
///
/// The scale is a power of 2 and `min` a multiple of it, and so no sum is rounded: 0, 1/2 and 1 are
/// themselves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Column {
    pub(super) min: f32,
    pub(super) scale: f32,
    /// The field's first bit in a frame.
    pub(super) bit: u32,
    /// How many bits it has; none for a weight that does not change.
    pub(super) width: u32,
}

impl EvenWeights {
    pub(super) fn key(&self, frame: usize, column: &Column) -> f32 {
        if column.width == 0 {
            return column.min;
        }
        let first = frame * self.stride + (column.bit / 8) as usize;
        let [a, b, c, d, ..] = self.bytes[first..] else {
            return column.min;
        };
        let field = u32::from_le_bytes([a, b, c, d]) >> (column.bit % 8);
        // No field has more than 24 bits.
        column.min + column.scale * (field & ((1 << column.width) - 1)) as f32
    }

    /// The values at a time of those weights that lie in `range`, which are numbered from the first
    /// of all.
    pub(super) fn sample(
        &self,
        time_s: f64,
        range: &Range<usize>,
        mut each: impl FnMut(usize, f32),
    ) {
        let first = self.first_weight as usize;
        let own = within(first, self.columns.len(), range);
        if own.is_empty() {
            return;
        }
        let place = self.timing.place(time_s);
        for number in own {
            let column = &self.columns[number];
            let from = self.key(place.from as usize, column);
            let to = self.key(place.to as usize, column);
            each(first + number, from + (to - from) * place.u);
        }
    }
}

/// Which of `count` weights from `first` on lie in a range, numbered from `first`.
fn within(first: usize, count: usize, range: &Range<usize>) -> Range<usize> {
    let start = range.start.saturating_sub(first).min(count);
    start..range.end.saturating_sub(first).min(count).max(start)
}

impl WeightKeys {
    /// The weights that it drives.
    pub(super) fn range(&self) -> Range<usize> {
        match self {
            Self::Even(even) => {
                let first = even.first_weight as usize;
                first..first + even.columns.len()
            }
            Self::Curve(track) => weight_range(track),
        }
    }

    /// What it takes.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Even(even) => {
                size_of::<EvenWeights>()
                    + size_of_val(&even.columns[..])
                    + size_of_val(&even.timing.offsets[..])
                    + even.bytes.len()
            }
            Self::Curve(track) => {
                size_of::<WeightTrack>()
                    + size_of_val(&track.keys.times_s[..])
                    + size_of_val(&track.keys.values[..])
            }
        }
    }
}

impl Clip {
    /// Whether it drives morph weights.
    #[must_use]
    pub fn drives_weights(&self) -> bool {
        !self.weights.is_empty()
    }

    /// The morph weights that it drives, in ascending ranges of
    /// [`Character::morph_weights`](crate::character::Character::morph_weights).
    pub fn driven_weights(&self) -> impl Iterator<Item = Range<usize>> {
        self.weights.iter().map(WeightKeys::range)
    }

    /// Calls `each` with the index and the value of each morph weight that it drives, at `time_s`,
    /// clamped to the clip; in ascending order. Not a number counts as 0. Of an additive clip, the
    /// differences from its reference's weights.
    ///
    /// A weight is off by at most 1e-3 from what the file's curves say, and by less where a target
    /// moves vertices far: see [`ClipOptions::error_m`](crate::clip::ClipOptions::error_m). Nothing is
    /// allocated, and any time takes as long.
    pub fn sample_weights(&self, time_s: f64, each: impl FnMut(usize, f32)) {
        self.sample_weights_in(time_s, 0..usize::MAX, each);
    }

    /// The same of those weights that lie in a range.
    pub(crate) fn sample_weights_in(
        &self,
        time_s: f64,
        range: Range<usize>,
        mut each: impl FnMut(usize, f32),
    ) {
        for keys in &self.weights {
            match keys {
                WeightKeys::Even(even) => even.sample(time_s, &range, &mut each),
                WeightKeys::Curve(track) => {
                    let all = weight_range(track);
                    let own = within(all.start, all.len(), &range);
                    if !own.is_empty() {
                        let time_s = if time_s.is_nan() { 0.0 } else { time_s };
                        let at = &mut Playhead { time_s, key: 0 };
                        sample_weights(track, at, own, |number, value| {
                            each(all.start + number, value);
                        });
                    }
                }
            }
        }
    }
}
