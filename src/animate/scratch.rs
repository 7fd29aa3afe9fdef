//! Working memory of the kernel, kept from call to call.

use super::group::{GROUP, Played};
use super::rig::Rig;
use crate::clip::COMPONENTS;
use crate::simd::{Row, WIDTH};
use glam::Affine3A;
use std::sync::{Mutex, MutexGuard, PoisonError};

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
    pub(crate) fn new(rig: &Rig) -> Box<Self> {
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

/// The pool of scratch memory that is kept from call to call.
#[derive(Debug, Default)]
pub(crate) struct Spare(Mutex<SparePool>);

#[derive(Debug, Default)]
struct SparePool {
    list: Vec<Box<Scratch>>,
    /// Number of scratches, including those in use.
    made: usize,
}

impl Spare {
    fn lock(&self) -> MutexGuard<'_, SparePool> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a scratch, or creates one if there is none left.
    pub(super) fn take(&self, rig: &Rig) -> Box<Scratch> {
        let spare = self.lock().list.pop();
        spare.unwrap_or_else(|| {
            self.lock().made += 1;
            Scratch::new(rig)
        })
    }

    /// Puts a scratch back.
    pub(super) fn give_back(&self, scratch: Box<Scratch>) {
        self.lock().list.push(scratch);
    }

    /// Creates one scratch per thread, with memory for a group's samples, so that nothing is
    /// allocated later, whichever threads take part.
    pub(super) fn make_room(&self, rig: &Rig, threads: usize, samples: usize) {
        let mut kept = self.lock();
        while kept.made < threads {
            kept.made += 1;
            kept.list.push(Scratch::new(rig));
        }
        for scratch in &mut kept.list {
            scratch.reserve(samples);
        }
        let missing = kept.made - kept.list.len().min(kept.made);
        kept.list.reserve(missing);
    }
}
