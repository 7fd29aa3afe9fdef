//! Working memory of the kernel, kept from call to call.

use super::group::{GROUP, Played};
use super::rig::Rig;
use crate::clip::COMPONENTS;
use crate::simd::{Row, WIDTH};
use glam::Affine3A;

/// Sixteen numbers: a row of the widest unit.
#[repr(C, align(64))]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line(pub(crate) [f32; GROUP]);

impl Line {
    pub(crate) const ZERO: Self = Self([0.0; GROUP]);
}

/// Working memory of the kernel for one rig, kept from call to call.
///
/// Rows of `local` and `model` have the length that the unit needs.
#[derive(Debug)]
pub(crate) struct Scratch {
    /// Samples `[component][instance]`, joints in the lanes.
    pub(crate) sampled: [[Row; GROUP]; COMPONENTS],
    /// Local poses `[component][joint]`, instances in the lanes.
    pub(crate) local: [[Line; WIDTH]; COMPONENTS],
    /// Model matrices by rows, instances in the lanes. Joints share this memory, see `Joint::slot`.
    pub(crate) model: Vec<[Line; 12]>,
    /// Output memory for lanes without an instance: the size of one instance of any product, and a
    /// line.
    pub(crate) spill: Vec<Line>,
    /// The clips played by the current group.
    pub(crate) played: Vec<Played<'static>>,
}

impl Scratch {
    pub(super) fn new(rig: &Rig) -> Box<Self> {
        let line = Line::ZERO;
        let most = rig.joints.len().max(rig.entries.len()) * size_of::<Affine3A>();
        Box::new(Self {
            sampled: [[Row::default(); GROUP]; COMPONENTS],
            local: [[line; WIDTH]; COMPONENTS],
            model: vec![[line; 12]; rig.slots],
            spill: vec![line; most.div_ceil(size_of::<Line>()) + 1],
            played: Vec::new(),
        })
    }

    /// Reserves memory for a group's samples, plus the rest pose for each instance.
    pub(super) fn reserve(&mut self, samples: usize) {
        self.played.clear();
        self.played.reserve(samples + GROUP);
    }
}
