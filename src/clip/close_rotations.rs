//! Marks blocks whose rotations stay close together, which makes blending them cheaper.

use super::packed::{Block, Clip, Property, components};
use crate::simd::WIDTH;

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
