//! A character as the kernel needs it.

use crate::character::Character;
use crate::clip::{COMPONENTS, Clip};
use crate::error::Result;
use crate::palette::Mat3x4;
use crate::simd::{Row, WIDTH};
use crate::skeleton::NO_PARENT;

#[derive(Debug, Clone, Copy)]
pub(super) struct Joint {
    /// Index of its model matrix in the scratch.
    pub(super) slot: u32,
    /// Index of its parent's model matrix, or [`Joint::ROOT`].
    pub(super) parent: u32,
    /// True if its rest scale is exactly 1 on all axes.
    pub(super) unit: bool,
    /// The rest pose: rotation, translation, scale.
    pub(super) rest: [f32; COMPONENTS],
}

impl Joint {
    pub(super) const ROOT: u32 = u32::MAX;
}

/// An entry of a rig's palette.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) joint: u16,
    /// Index of the joint's model matrix in the scratch.
    pub(super) slot: u32,
    pub(super) inverse_bind: Mat3x4,
}

#[derive(Debug, Clone)]
pub(super) struct Rig {
    pub(super) joints: Vec<Joint>,
    pub(super) entries: Vec<Entry>,
    /// Number of model matrices in the scratch.
    pub(super) slots: usize,
    /// The clip of instances that play nothing.
    pub(super) rest: Clip,
    /// The rest pose `[block][component][lane]`.
    pub(super) rest_rows: Vec<Row>,
}

impl Rig {
    pub(super) fn new(character: &Character) -> Result<Self> {
        let skeleton = character.skeleton();
        let (slot_of, slots) = slots(character);
        let slot = |joint: u16| slot_of.get(usize::from(joint)).copied();
        let joints = skeleton.joints().iter().zip(&slot_of);
        let joints = joints.map(|(joint, own)| Joint {
            slot: *own,
            parent: slot(joint.parent_index()).unwrap_or(Joint::ROOT),
            unit: joint.rest.scale == glam::Vec3::ONE,
            rest: crate::clip::components(&joint.rest),
        });
        let entries = character.palette().iter().map(|entry| Entry {
            joint: entry.joint.0,
            slot: slot(entry.joint.0).unwrap_or(0),
            inverse_bind: Mat3x4::from_affine(&entry.inverse_bind),
        });
        Ok(Self {
            joints: joints.collect(),
            entries: entries.collect(),
            slots,
            rest: crate::clip::rest_clip(character.model())?,
            rest_rows: crate::clip::rest_rows(skeleton),
        })
    }
}

/// Assigns a matrix index to each joint, and returns the indices and their number.
///
/// An index is reused once the joint's children are composed and its entries written. So all live
/// matrices stay in the nearest cache, whatever the size of the skeleton.
fn slots(character: &Character) -> (Vec<u32>, usize) {
    let joints = character.skeleton().joints();
    // The last block that needs each joint's matrix.
    let mut last: Vec<usize> = (0..joints.len()).map(|joint| joint / WIDTH).collect();
    for (index, joint) in joints.iter().enumerate() {
        if joint.parent_index() != NO_PARENT {
            let parent = &mut last[usize::from(joint.parent_index())];
            *parent = (*parent).max(index / WIDTH);
        }
    }
    // Entries are written in order, so each waits for those before it.
    let mut block = 0;
    for entry in character.palette() {
        let joint = usize::from(entry.joint);
        block = block.max(joint / WIDTH);
        last[joint] = last[joint].max(block);
    }
    let mut free: Vec<u32> = Vec::new();
    let mut until: Vec<Vec<u32>> = vec![Vec::new(); joints.len().div_ceil(WIDTH) + 1];
    let (mut slots, mut made) = (Vec::with_capacity(joints.len()), 0);
    for index in 0..joints.len() {
        let block = index / WIDTH;
        if index % WIDTH == 0 && block > 0 {
            free.append(&mut until[block - 1]);
        }
        let slot = free.pop().unwrap_or_else(|| {
            made += 1;
            made - 1
        });
        slots.push(slot);
        until[last[index]].push(slot);
    }
    (slots, made as usize)
}
