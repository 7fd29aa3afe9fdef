//! Rounds plain keys to multiples of steps, packs them, and marks rotations that stay close
//! together.

use super::components::{IDENTITY, Property};
use super::keys::{Column, Packed, Step};
use super::packed::{Block, BlockKeys, Clip, row};
use crate::simd::WIDTH;
use core::ops::Range;

/// A component of a rotation follows from the others if it is never smaller than this.
///
/// Errors of the others are up to five times as large in it.
const LEAST_IMPLIED: f32 = 0.2;

/// A property of a joint that moves.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) joint: usize,
    pub(super) property: Property,
    /// The first of its rows.
    pub(super) row: usize,
    /// The range of each component.
    pub(super) spans: [Span; 4],
    /// The component of a rotation that follows from the others.
    pub(super) implied: Option<Implied>,
    /// A first guess of the error that a key may have.
    pub(super) tolerance: f32,
    /// The step of keys. `None` if one key for all is exact enough.
    pub(super) step: Option<Step>,
}

/// The range of a component's keys.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Span {
    pub(super) min: f32,
    pub(super) max: f32,
}

impl Span {
    const NONE: Self = Self { min: 0.0, max: 0.0 };

    pub(super) fn length(&self) -> f32 {
        self.max - self.min
    }

    pub(super) fn middle(&self) -> f32 {
        if self.min == self.max {
            self.min
        } else {
            0.5 * self.min + 0.5 * self.max
        }
    }

    /// The least magnitude of a key.
    pub(super) fn least(&self) -> f32 {
        self.min.max(-self.max).max(0.0)
    }

    fn greatest(&self) -> f32 {
        self.max.max(-self.min)
    }
}

/// A component of a rotation that follows from the others, because rotations have a length of 1 and
/// its sign stays the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Implied {
    pub(super) component: usize,
    pub(super) negative: bool,
}

impl Implied {
    /// Twice the component, and one more if it is negative.
    pub(super) fn number(self) -> u32 {
        self.component as u32 * 2 + u32::from(self.negative)
    }

    /// `None` if there are no such components.
    pub(super) fn of_number(number: u32) -> Option<Self> {
        (number < 8).then_some(Self {
            component: number as usize / 2,
            negative: number % 2 == 1,
        })
    }

    /// The multiples in all frames. Lists of one value have it in all of them.
    pub(super) fn list(self, step: Step, lists: &[Vec<i32>]) -> Vec<i32> {
        let frames = lists.iter().map(Vec::len).max().unwrap_or(0);
        let all = (0..frames).map(|frame| {
            let at = |list: &Vec<i32>| list.get(frame.min(list.len().max(1) - 1)).copied();
            let all = core::array::from_fn(|component| at(&lists[component]).unwrap_or(0));
            self.multiple(all, step)
        });
        all.collect()
    }

    /// The multiple of a step in this component, from those in the others.
    pub(super) fn multiple(&self, all: [i32; 4], step: Step) -> i32 {
        let others = (0..4).filter(|component| *component != self.component);
        let squares = others.map(|component| f64::from(all[component]).powi(2));
        let whole = 1.0 / f64::from(step.value());
        let left = whole * whole - squares.sum::<f64>();
        let multiple = left.max(0.0).sqrt().round() as i32;
        if self.negative { -multiple } else { multiple }
    }
}

/// The moving properties of all joints, in the order of their rows and joints.
pub(super) fn parts(clip: &Clip) -> Vec<Part> {
    let BlockKeys::Plain(keys, stride) = &clip.keys else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for (number, block) in clip.blocks.iter().enumerate() {
        for property in block.moving() {
            let rows = block.rows_of(property);
            all.extend(clip.joints_of(number).map(|joint| {
                let mut spans = [Span::NONE; 4];
                for (row, span) in rows.clone().zip(&mut spans) {
                    let keys = keys[row..].iter().step_by(*stride);
                    let keys = keys.map(|row| row.0[joint % WIDTH]);
                    span.min = keys.clone().fold(f32::INFINITY, f32::min);
                    span.max = keys.fold(f32::NEG_INFINITY, f32::max);
                }
                let largest = (0..4).max_by(|a, b| spans[*a].least().total_cmp(&spans[*b].least()));
                let implied = largest.map(|component| Implied {
                    component,
                    negative: spans[component].max < 0.0,
                });
                let turns = property == Property::Rotation;
                Part {
                    joint,
                    property,
                    row: rows.start,
                    spans,
                    implied: implied.filter(|implied| {
                        turns && spans[implied.component].least() >= LEAST_IMPLIED
                    }),
                    tolerance: 0.0,
                    step: None,
                }
            }));
        }
    }
    all
}

impl Part {
    pub(super) fn rows(&self) -> Range<usize> {
        self.row..self.row + self.property.len()
    }

    /// The components that do not follow from others.
    fn stored(&self) -> impl Iterator<Item = &Span> {
        let implied = self.implied.map(|implied| implied.component);
        let all = self.spans.iter().take(self.property.len()).enumerate();
        all.filter(move |(component, _)| Some(*component) != implied)
            .map(|(_, span)| span)
    }

    /// Sets the step that keeps keys within a multiple of the tolerance, unless one key does.
    pub(super) fn set_step(&mut self, multiple: f32) {
        let most = 2.0 * (self.tolerance * multiple);
        let greatest = self.spans.iter().map(Span::greatest).fold(0.0, f32::max);
        // NaN is not within anything.
        let stays = |span: &Span| span.length() <= most;
        let spans = &self.spans[..self.property.len()];
        self.step = (!spans.iter().all(stays)).then(|| Step::new(most, greatest));
    }

    /// About the number of bits of a frame's keys.
    pub(super) fn bits(&self) -> f32 {
        let Some(step) = self.step else {
            return 0.0;
        };
        let bits = self
            .stored()
            .map(|span| (1.0 + span.length() / step.value()).log2());
        bits.sum()
    }

    /// The keys of all frames, by component.
    pub(super) fn columns(&self, clip: &Clip) -> Vec<Column> {
        let rows = self.rows();
        let Some(step) = self.step else {
            let fixed = self.spans.iter().map(|span| Column::Fixed(span.middle()));
            return fixed.take(rows.len()).collect();
        };
        let mut columns = vec![Vec::with_capacity(clip.timing.frames); rows.len()];
        let one_over = 1.0 / f64::from(step.value());
        for frame in 0..clip.timing.frames {
            let mut all = [0; 4];
            for (row, to) in rows.clone().zip(&mut all) {
                let key = clip.key(frame, row, self.joint % WIDTH);
                // The conversion turns NaN into 0.
                *to = (f64::from(key) * one_over).round() as i32;
            }
            if let Some(implied) = self.implied {
                all[implied.component] = implied.multiple(all, step);
            }
            for (column, multiple) in columns.iter_mut().zip(all) {
                column.push(multiple);
            }
        }
        let columns = columns.into_iter();
        columns.map(|column| Column::Steps(step, column)).collect()
    }
}

/// Packs the clip with keys that are multiples of the parts' steps. `None` if any row has too many
/// bits.
pub(super) fn packed(clip: &Clip, parts: &[Part]) -> Option<Clip> {
    let mut columns = unmoved_columns(&clip.blocks);
    for part in parts {
        for (row, column) in part.rows().zip(part.columns(clip)) {
            columns[row][part.joint % WIDTH] = column;
        }
    }
    let packed = Packed::new(&columns, clip.timing.frames)?;
    let (blocks, constants) = (clip.blocks.clone(), clip.constants.clone());
    Some(clip.with_keys(BlockKeys::Packed(packed), blocks, constants))
}

/// Columns `[row][lane]` of an identity.
pub(super) fn unmoved_columns(blocks: &[Block]) -> Vec<[Column; WIDTH]> {
    let moving = blocks.iter().copied().flat_map(Block::moving);
    let components = moving.flat_map(Property::range);
    let column = |component: usize| [(); WIDTH].map(|()| Column::Fixed(IDENTITY[component]));
    components.map(column).collect()
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
        let joints = self.joints_of(number);
        // Lanes without a joint repeat the first.
        let filled = |mut keys: Keys| {
            for part in &mut keys {
                let first = part[0];
                part[joints.len()..].fill(first);
            }
            keys
        };
        let at_rest = |part| row(part, joints.clone().map(|joint| self.at_rest(joint))).0;
        let rest = filled(core::array::from_fn(at_rest));
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
