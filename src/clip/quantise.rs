//! Packs plain keys into fields of given widths, and marks rotations that stay close together.

use super::keys::{LEAST_SCALE, MAX_BITS, Packed, PackedRow};
use super::packed::{Block, BlockKeys, Clip, Property, components};
use crate::simd::WIDTH;

/// A field of this many bits times the 8 bits of its scale is exact. So opposite fields have
/// exactly opposite values.
const EXACT_BITS: u32 = 16;

/// The range of values in one lane of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Span {
    pub(super) min: f32,
    pub(super) max: f32,
    /// True if the last key of the clip is the opposite of the first: a rotation that ends after a
    /// full turn. Fields then represent values symmetric about 0, so that both keys are exact
    /// opposites and the loop closes exactly.
    opposite: bool,
}

/// One row of a clip's keys: a component of a block, with the range of each lane.
#[derive(Debug, Clone)]
pub(super) struct Lane {
    pub(super) block: usize,
    pub(super) property: Property,
    pub(super) component: usize,
    pub(super) spans: [Span; WIDTH],
}

/// Computes the range of each row.
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
    /// The number of bits that keep a key within `tolerance`.
    pub(super) fn width(&self, tolerance: f32) -> u32 {
        let length = f64::from(self.length());
        if length <= 2.0 * f64::from(tolerance) {
            return 0;
        }
        let steps = length / (2.0 * f64::from(tolerance));
        let most = if self.opposite { EXACT_BITS } else { MAX_BITS };
        // NaN also results in the maximum.
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

    /// The value of a field without bits.
    pub(super) fn middle(&self) -> f32 {
        if self.opposite {
            0.0
        } else if self.min == self.max {
            self.min
        } else {
            0.5 * self.min + 0.5 * self.max
        }
    }

    /// The value of a field of 0, and the upper 16 bits of the step.
    fn range(&self, width: u32) -> (f32, u16) {
        if width == 0 {
            return (self.middle(), 0);
        }
        let last = ((1_u32 << width) - 1) as f32;
        let step = self.length() / last;
        let bits = step.to_bits();
        // Rounded up to 8 significant bits, but never so small that it loses some of them, nor so
        // large that it is infinite.
        let scale = bits.div_ceil(1 << 16).clamp(LEAST_SCALE.into(), 0x7F7F) as u16;
        let step = f32::from_bits(u32::from(scale) << 16);
        let min = if self.opposite {
            -0.5 * step * last
        } else {
            self.min
        };
        (min, scale)
    }

    /// Rounds keys to fields of `width` bits, exactly as [`packed`] does.
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

/// The encoding of a lane's fields.
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

    /// The field whose value is nearest to a key.
    fn nearest(&self, key: f32) -> u32 {
        let at = (f64::from(key) - self.min) * self.reciprocal;
        // The conversion saturates at both ends and turns NaN into 0.
        ((at + 0.5) as u32).min(self.last)
    }
}

/// Packs the clip with fields of these widths. `None` if any row has too many bits.
pub(super) fn packed(clip: &Clip, lanes: &[Lane], widths: &[[u32; WIDTH]]) -> Option<Clip> {
    let BlockKeys::Plain(keys, stride @ 1..) = &clip.keys else {
        return None;
    };
    let mut rows = Vec::with_capacity(lanes.len());
    let mut windows = Vec::with_capacity(lanes.len());
    let mut bits = 0;
    for (lane, widths) in lanes.iter().zip(widths) {
        let (mut row, window, end) = PackedRow::lay_out(*widths, bits)?;
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
    let (blocks, constants) = (clip.blocks.clone(), clip.constants.clone());
    Some(clip.with_keys(BlockKeys::Packed(packed), blocks, constants))
}

/// Largest shortfall of a rotation's squared length from 1, at keys and between them. Up to this
/// value, the kernel's short fit of the reciprocal length is accurate to 1.7e-7. Keys that are 27°
/// apart reach it.
const MOST_MISSING: f32 = 0.0145;
/// Smallest shortfall. It is negative because packed keys can be longer than 1.
const LEAST_MISSING: f32 = -0.01;
/// Square of the least cosine between a key and the rest pose, slightly more than that of 45°. Any
/// two rotations this close to the rest pose lie in one half space, and so does everything between
/// them.
const LEAST_COSINE_SQUARED: f32 = 0.5004;

/// A quaternion, xyzw.
type Key = [f32; 4];
/// The quaternions of a block, by component.
type Keys = [[f32; WIDTH]; 4];

impl Clip {
    /// Marks the blocks whose rotations are near the rest pose and near their neighbours in time.
    pub(super) fn mark_close_rotations(&mut self) {
        for number in 0..self.blocks.len() {
            let near = self.is_near(number);
            let flags = &mut self.blocks[number].flags;
            *flags = (*flags & !Block::NEAR) | if near { Block::NEAR } else { 0 };
        }
    }

    fn is_near(&self, number: usize) -> bool {
        let block = &self.blocks[number];
        if block.rests(Property::Rotation) {
            return true;
        }
        if block.flags & Block::KEPT != 0 || self.additive {
            return false;
        }
        let first = number * WIDTH;
        let joints = (self.rest.len() - first).min(WIDTH);
        // Lanes without a joint repeat the first.
        let filled = |mut keys: Keys| {
            for part in &mut keys {
                let first = part[0];
                part[joints..].fill(first);
            }
            keys
        };
        let mut rest = Keys::default();
        for lane in 0..joints {
            let components = components(&self.at_rest(first + lane));
            for (part, component) in rest.iter_mut().zip(components) {
                part[lane] = component;
            }
        }
        let rest = filled(rest);
        let row = block.rows[Property::Rotation as usize] as usize;
        if !block.moves(Property::Rotation) {
            let keys = filled(core::array::from_fn(|part| self.constants[row + part].0));
            return are_near(&keys, &keys, &rest);
        }
        let keys = |frame: usize| filled(core::array::from_fn(|part| self.keys(frame, row + part)));
        let mut before = keys(0);
        (0..self.timing.frames).all(|frame| {
            let now = keys(frame);
            are_near(&core::mem::replace(&mut before, now), &now, &rest)
        })
    }
}

/// Returns true if the rotations of all lanes are near the rest pose, and near those `before`.
fn are_near(before: &Keys, now: &Keys, rest: &Keys) -> bool {
    let mut near = true;
    // Without branches, so that the compiler vectorises it.
    for lane in 0..WIDTH {
        let [before, now, rest] = [before, now, rest].map(|keys| keys.map(|part| part[lane]));
        near &= is_beside(now, rest) & is_long(now, now) & is_long(before, now);
    }
    near
}

fn dot(a: Key, b: Key) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
}

/// Returns true if a key is within 45° of the rest pose, measured between quaternions.
fn is_beside(key: Key, rest: Key) -> bool {
    let along = dot(key, rest);
    (along > 0.0) & (along * along >= LEAST_COSINE_SQUARED * dot(key, key) * dot(rest, rest))
}

/// Returns true if the midpoint of two keys has a length close to 1.
fn is_long(a: Key, b: Key) -> bool {
    let middle: Key = core::array::from_fn(|part| 0.5 * (a[part] + b[part]));
    let missing = 1.0 - dot(middle, middle);
    (LEAST_MISSING..=MOST_MISSING).contains(&missing)
}
