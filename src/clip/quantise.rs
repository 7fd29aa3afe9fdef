//! Packed keys from plain ones, with fields of given widths.

use super::exact::Times;
use super::keys::{LEAST_SCALE, MAX_BITS, Packed, PackedRow};
use super::measure::{Measure, Worst};
use super::packed::{BlockKeys, Clip, Property};
use super::widths::search;
use crate::simd::WIDTH;

/// A field of so many bits times the 8 of its scale is exact, and so are opposite values of
/// opposite fields.
const EXACT_BITS: u32 = 16;

/// What a lane of a row takes on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Span {
    pub(super) min: f32,
    pub(super) max: f32,
    /// Whether the last key of the clip is the opposite of the first: a rotation that ends with a
    /// full turn. Then fields stand for values that lie evenly around 0, so that both keys are
    /// opposites and the loop closes to the bit.
    opposite: bool,
}

/// A row of a clip's keys.
#[derive(Debug, Clone)]
pub(super) struct Lane {
    pub(super) block: usize,
    pub(super) property: Property,
    pub(super) component: usize,
    pub(super) spans: [Span; WIDTH],
}

/// `clip`, whose keys are plain, with the least bits that stay in the bound; and the worst error.
/// None if none do.
pub(super) fn quantise(
    clip: &Clip,
    measure: &Measure<'_>,
    times: &mut Times,
) -> Option<(Clip, Worst)> {
    let BlockKeys::Plain(_, 1..) = &clip.keys else {
        return None;
    };
    search(clip, measure, times)
}

/// What each row takes on.
pub(super) fn lanes(clip: &Clip) -> Vec<Lane> {
    let BlockKeys::Plain(keys, stride) = &clip.keys else {
        return Vec::new();
    };
    let stride = *stride;
    let mut all = Vec::with_capacity(stride);
    for (number, block) in clip.blocks.iter().enumerate() {
        for property in Property::ALL.into_iter().filter(|p| block.moves(*p)) {
            for component in 0..property.len() {
                let row = block.rows[property as usize] as usize + component;
                let spans = std::array::from_fn(|lane| {
                    let value = |frame: usize| keys[frame * stride + row].0[lane];
                    let values = || (0..clip.timing.frames).map(value);
                    let rotation = property == Property::Rotation;
                    let quaternion = |frame: usize| {
                        let first = frame * stride + row - component;
                        [0, 1, 2, 3].map(|k| keys[first + k].0[lane])
                    };
                    Span {
                        min: values().fold(f32::INFINITY, f32::min),
                        max: values().fold(f32::NEG_INFINITY, f32::max),
                        opposite: rotation
                            && quaternion(0).map(|v| -v) == quaternion(clip.timing.frames - 1),
                    }
                });
                all.push(Lane {
                    block: number,
                    property,
                    component,
                    spans,
                });
            }
        }
    }
    all
}

impl Span {
    /// How many bits keep a key within `tolerance`.
    pub(super) fn width(&self, tolerance: f32) -> u32 {
        let length = f64::from(self.length());
        if length <= 2.0 * f64::from(tolerance) {
            return 0;
        }
        let steps = length / (2.0 * f64::from(tolerance));
        let most = if self.opposite { EXACT_BITS } else { MAX_BITS };
        // Not a number counts as the most, too.
        (1..most)
            .find(|width| ((1_u64 << width) - 1) as f64 >= steps)
            .unwrap_or(most)
    }

    fn length(&self) -> f32 {
        if self.opposite {
            2.0 * self.max.max(-self.min)
        } else {
            self.max - self.min
        }
    }

    /// What a field without bits stands for.
    pub(super) fn middle(&self) -> f32 {
        if self.opposite {
            0.0
        } else if self.min == self.max {
            self.min
        } else {
            0.5 * self.min + 0.5 * self.max
        }
    }

    /// What a field of 0 stands for, and a step.
    fn range(&self, width: u32) -> (f32, u16) {
        if width == 0 {
            return (self.middle(), 0);
        }
        let last = ((1_u32 << width) - 1) as f32;
        let step = self.length() / last;
        let bits = step.to_bits();
        // Up to the next of 8 significant bits; never too small for all of them, nor beyond what is
        // finite.
        let scale = bits.div_ceil(1 << 16).clamp(LEAST_SCALE.into(), 0x7F7F) as u16;
        let step = f32::from_bits(u32::from(scale) << 16);
        let min = if self.opposite {
            -0.5 * step * last
        } else {
            self.min
        };
        (min, scale)
    }

    /// What fields of `width` bits make of keys: what [`packed`] makes of them.
    pub(super) fn rounded(&self, width: u32, keys: impl Iterator<Item = f32>, out: &mut [f32]) {
        let (min, scale) = self.range(width);
        if width == 0 {
            out.fill(min);
            return;
        }
        let (last, scale) = ((1_u32 << width) - 1, f32::from_bits(u32::from(scale) << 16));
        let fields = Fields::new(min, scale, last);
        let mut first = None;
        let frames = out.len();
        for (frame, (key, out)) in keys.zip(out).enumerate() {
            let field = match first {
                Some(first) if self.opposite && frame + 1 == frames => last - first,
                _ => fields.nearest(key),
            };
            first.get_or_insert(field);
            // No field has more than 24 bits.
            *out = min + scale * field as f32;
        }
    }
}

/// The fields of a lane.
struct Fields {
    min: f64,
    reciprocal: f64,
    last: u32,
}

impl Fields {
    fn new(min: f32, scale: f32, last: u32) -> Self {
        Self {
            min: min.into(),
            reciprocal: 1.0 / f64::from(scale),
            last,
        }
    }

    /// The field that comes nearest to a key.
    fn nearest(&self, key: f32) -> u32 {
        let at = (f64::from(key) - self.min) * self.reciprocal;
        // Beyond either end it saturates; not a number becomes 0.
        ((at + 0.5) as u32).min(self.last)
    }
}

/// The clip with fields of these widths; none if some row has too many bits.
pub(super) fn packed(clip: &Clip, lanes: &[Lane], widths: &[[u32; WIDTH]]) -> Option<Clip> {
    let BlockKeys::Plain(keys, stride @ 1..) = &clip.keys else {
        return None;
    };
    let mut rows = Vec::with_capacity(lanes.len());
    let mut windows = Vec::with_capacity(lanes.len());
    let mut bits = 0;
    for (lane, widths) in lanes.iter().zip(widths) {
        let (mut row, window, end) = PackedRow::place(*widths, bits)?;
        for (number, span) in lane.spans.iter().enumerate() {
            let (min, scale) = span.range(widths[number]);
            row.min[number] = min;
            row.set_scale(number, scale);
        }
        rows.push(row);
        windows.push(window);
        bits = end;
    }
    let mut packed = Packed::empty(rows, windows, bits, clip.timing.frames);
    let Packed {
        rows,
        windows,
        bytes,
        stride: bytes_a_frame,
    } = &mut packed;
    let first = &keys[..*stride];
    let last_frame = clip.timing.frames - 1;
    for (frame, keys) in keys.chunks_exact(*stride).enumerate() {
        let to = &mut bytes[frame * *bytes_a_frame..];
        for (number, row) in rows.iter().enumerate() {
            let spans = &lanes[number].spans;
            let to = &mut to[windows[number] as usize..];
            for (lane, width) in widths[number].into_iter().enumerate() {
                if width == 0 {
                    continue;
                }
                let last = (1_u32 << width) - 1;
                let fields = Fields::new(row.min[lane], row.scale(lane), last);
                let field = if frame == last_frame && spans[lane].opposite {
                    last - fields.nearest(first[number].0[lane])
                } else {
                    fields.nearest(keys[number].0[lane])
                };
                row.write(to, lane, field);
            }
        }
    }
    Some(Clip {
        name: clip.name.clone(),
        keys: BlockKeys::Packed(packed),
        timing: clip.timing.clone(),
        constants: clip.constants.clone(),
        blocks: clip.blocks.clone(),
        rest: clip.rest.clone(),
        kept: clip.kept.clone(),
        weights: clip.weights.clone(),
        ..*clip
    })
}
