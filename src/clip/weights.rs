//! The packed morph weights of a clip.

use super::curve_sample::weight_range;
use super::timing::Timing;
use super::track::WeightTrack;
use crate::id::Id;
use crate::mesh::MorphWeight;
use std::ops::Range;

/// Padding bytes after the last frame, so that 4-byte reads from any field stay in bounds.
pub(crate) const PADDING: usize = 4;

/// The weights of one mesh in a clip.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum WeightKeys {
    Even(EvenWeights),
    /// The file's curve: a step track, or one that is smaller this way.
    Curve(WeightTrack),
}

/// Weights at uniform times, as integers of few bits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EvenWeights {
    pub(crate) first_weight: Id<MorphWeight>,
    pub(crate) timing: Timing,
    /// One column per weight.
    pub(crate) columns: Vec<Column>,
    /// Bytes per frame.
    pub(crate) stride: usize,
    /// The frames in order, with padding.
    pub(crate) bytes: Vec<u8>,
}

/// The encoding of one weight: `min + scale * field`.
///
/// The scale is a power of 2 and `min` is a multiple of it, so no sum is rounded: 0, 1/2 and 1 are
/// exact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Column {
    pub(crate) min: f32,
    pub(crate) scale: f32,
    /// The first bit of the field in a frame.
    pub(crate) bit: u32,
    /// The number of bits; 0 for a weight that does not change.
    pub(crate) width: u32,
}

impl EvenWeights {
    pub(crate) fn key(&self, frame: usize, column: &Column) -> f32 {
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

    /// Samples some of the weights and passes them to `each`. Indices count from the first weight.
    pub(crate) fn sample(
        &self,
        time_s: f64,
        which: Range<usize>,
        mut each: impl FnMut(usize, f32),
    ) {
        let moment = self.timing.moment(time_s);
        for number in which {
            let column = &self.columns[number];
            let from = self.key(moment.from as usize, column);
            let to = self.key(moment.to as usize, column);
            each(number, from + (to - from) * moment.u);
        }
    }
}

impl WeightKeys {
    pub(crate) fn range(&self) -> Range<usize> {
        match self {
            Self::Even(even) => {
                let first = even.first_weight.index();
                first..first + even.columns.len()
            }
            Self::Curve(track) => weight_range(track),
        }
    }

    pub(crate) fn change(&self) -> bool {
        match self {
            Self::Even(even) => even.columns.iter().any(|column| column.width > 0),
            Self::Curve(track) => track.keys.times_s.len() > 1,
        }
    }

    /// Size in bytes.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Even(even) => {
                size_of::<EvenWeights>()
                    + size_of_val(&even.columns[..])
                    + size_of_val(&even.timing.offsets[..])
                    + even.bytes.len()
            }
            Self::Curve(track) => size_of::<WeightTrack>() + track.numbers().size(),
        }
    }
}
