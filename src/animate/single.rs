//! Poses as clips of a single frame.

use super::poser::BatchPoser;
use crate::clip::{Block, COMPONENTS, Clip, Property, WeightKeys, components};
use crate::simd::{Row, WIDTH};
use crate::skeleton::Transform;

impl BatchPoser {
    /// Returns the rest pose as a clip of a single frame. [`Clip::set_single`] changes its pose.
    pub(crate) fn single_clip(&self) -> Clip {
        let mut clip = self.rig.rest.clone();
        for (block, first) in clip.blocks.iter_mut().zip((0..).step_by(COMPONENTS)) {
            *block = Block {
                rows: Property::ALL.map(|property| first + property.first() as u32),
                flags: 0,
            };
        }
        clip.constants.clone_from(&self.rig.rest_rows);
        clip
    }
}

impl Clip {
    /// Changes the pose of a clip made by [`BatchPoser::single_clip`]: one transform per joint.
    pub(crate) fn set_single(&mut self, local: &[Transform]) {
        let rows = self.constants.chunks_exact_mut(COMPONENTS);
        for (rows, joints) in rows.zip(local.chunks(WIDTH)) {
            for (lane, joint) in joints.iter().enumerate() {
                for (row, value) in rows.iter_mut().zip(components(joint)) {
                    let row: &mut Row = row;
                    row.0[lane] = value;
                }
            }
        }
    }

    /// Returns true if its pose or its morph weights change with time.
    pub(crate) fn changes_pose(&self) -> bool {
        self.timing.frames > 1
            || !self.kept.is_empty()
            || self.weights.iter().any(WeightKeys::change)
    }
}
