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

type Key = [f32; 4];

impl Clip {
    /// Marks the blocks whose rotations are near the rest pose and near their neighbours in time.
    pub(super) fn mark_near(&mut self) {
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
        let joints = first..(first + WIDTH).min(self.rest.len());
        joints.into_iter().all(|joint| {
            let [x, y, z, w, ..] = components(&self.at_rest(joint));
            self.is_joint_near(block, joint - first, [x, y, z, w])
        })
    }

    fn is_joint_near(&self, block: &Block, lane: usize, rest: Key) -> bool {
        let row = block.rows[Property::Rotation as usize] as usize;
        if !block.moves(Property::Rotation) {
            let key = core::array::from_fn(|part| self.constants[row + part].0[lane]);
            return is_beside(key, rest) && is_long(key, key);
        }
        let key = |frame: usize| -> Key {
            core::array::from_fn(|part| self.key(frame, row + part, lane))
        };
        let mut before = key(0);
        (0..self.timing.frames).all(|frame| {
            let now = key(frame);
            let near = is_beside(now, rest) && is_long(now, now) && is_long(before, now);
            before = now;
            near
        })
    }
}

fn dot(a: Key, b: Key) -> f32 {
    a.iter().zip(&b).map(|(a, b)| a * b).sum()
}

/// Returns true if a key is within 45° of the rest pose, measured between quaternions.
fn is_beside(key: Key, rest: Key) -> bool {
    let along = dot(key, rest);
    along > 0.0 && along * along >= LEAST_COSINE_SQUARED * dot(key, key) * dot(rest, rest)
}

/// Returns true if the midpoint of two keys has a length close to 1.
fn is_long(a: Key, b: Key) -> bool {
    let middle: Key = core::array::from_fn(|part| 0.5 * (a[part] + b[part]));
    (LEAST_MISSING..=MOST_MISSING).contains(&(1.0 - dot(middle, middle)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::animate::BatchPoser;
    use crate::ids::ClipId;
    use crate::motion::{ClipSample, SampleList};
    use crate::simd::SimdLevel;
    use crate::skeleton::Transform;

    /// Clips that differ only in the mark give the same blends: the fits are accurate to 1.7e-7 and
    /// 1e-7 of a weight.
    #[test]
    fn marks_change_nothing_but_rounding() {
        let character = crate::builtin::mannequin().unwrap().character;
        let near: Vec<Clip> = character.clips()[..3].to_vec();
        let mut far = near.clone();
        let mut marked = 0;
        for block in far.iter_mut().flat_map(|clip| &mut clip.blocks) {
            marked += usize::from(block.flags & Block::NEAR != 0);
            block.flags &= !Block::NEAR;
        }
        let blocks: usize = near.iter().map(|clip| clip.blocks.len()).sum();
        assert!(marked * 2 > blocks, "{marked} of {blocks}");
        let mut list = SampleList::new();
        for number in 0..40 {
            let sample = |clip: usize| {
                let time_s = 0.037 * (number * (clip + 1)) as f64;
                ClipSample::new(ClipId(clip as u16), time_s).weighted(0.2 + 0.1 * clip as f32)
            };
            list.push((0..3).map(sample));
        }
        for level in SimdLevel::available() {
            let poser = BatchPoser::new(&character).unwrap();
            let poser = poser.with_simd_level(level).unwrap();
            let pose = |clips: &[Clip]| {
                let count = list.len() * character.skeleton().len();
                let mut local = vec![Transform::IDENTITY; count];
                poser.local_poses(clips, &list, &mut local).unwrap();
                local
            };
            let (a, b) = (pose(&near), pose(&far));
            for (a, b) in a.iter().zip(&b) {
                let apart = (a.rotation - b.rotation).length();
                assert!(apart < 4e-7, "{level}: {apart}");
            }
        }
    }

    #[test]
    fn keys_far_from_the_rest_pose_or_from_each_other_are_not_near() {
        let at = |angle: f32| -> Key { [0.0, 0.0, (angle / 2.0).sin(), (angle / 2.0).cos()] };
        assert!(is_beside(at(1.56), at(0.0)) && !is_beside(at(1.58), at(0.0)));
        assert!(!is_beside(at(0.3).map(|part| -part), at(0.0)));
        assert!(is_long(at(0.0), at(0.47)) && !is_long(at(0.0), at(0.49)));
        assert!(!is_long(
            at(0.0).map(|part| 1.006 * part),
            at(0.0).map(|part| 1.006 * part)
        ));
    }
}
