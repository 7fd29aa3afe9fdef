//! Computes poses and palettes of many instances of one skeleton together.

use super::group::{GROUP, Played};
use super::rig::Rig;
use crate::character::Character;
use crate::clip::{Block, COMPONENTS, Clip, Property, WeightKeys, row};
use crate::error::{Result, expect_len};
use crate::scratch_pool::ScratchPool;
use crate::simd::{Row, SimdLevel, Unit, WIDTH};
use crate::skeleton::{Mask, Transform};
use glam::Affine3A;

/// Computes the poses and palettes of many instances of a character, from any number of threads.
///
/// It keeps no state of instances between calls. Any time costs the same, forward or back.
///
/// At a given [`SimdLevel`], an instance has the same bits whatever else is in the batch, and on
/// any number of threads.
///
/// After the first calls nothing is allocated: working memory is kept, once for each thread that
/// was ever in a call at the same time.
#[derive(Debug, Clone)]
pub(crate) struct BatchPoser {
    pub(super) rig: Rig,
    pub(super) unit: Unit,
    /// Masks `[mask][block]`, joints in the lanes.
    pub(super) masks: Vec<Vec<Row>>,
    pub(super) scratch_pool: ScratchPool<Scratch>,
}

impl BatchPoser {
    /// Creates a poser for instances of `character`, with the masks that samples refer to.
    pub(crate) fn new(character: &Character, masks: &[Mask]) -> Result<Self> {
        let rig = Rig::new(character)?;
        let masks = masks.iter().enumerate().map(|(index, mask)| {
            let weights = &mask.weights;
            expect_len("weights", weights.len(), rig.joints.len())
                .map_err(|why| why.at("mask", index))?;
            let blocks = weights.chunks(WIDTH).map(|weights| {
                let mut row = Row::default();
                row.0[..weights.len()].copy_from_slice(weights);
                row
            });
            Ok(blocks.collect())
        });
        Ok(Self {
            masks: masks.collect::<Result<_>>()?,
            rig,
            unit: Unit::best(),
            scratch_pool: ScratchPool::default(),
        })
    }

    /// Sets another SIMD level than the best.
    pub(crate) fn set_simd_level(&mut self, level: SimdLevel) -> Result<()> {
        self.unit = Unit::of(level)?;
        Ok(())
    }

    pub(crate) const fn simd_level(&self) -> SimdLevel {
        self.unit.level()
    }

    /// The number of entries in a palette.
    pub(crate) fn entries(&self) -> usize {
        self.rig.entries.len()
    }

    /// Returns the rest pose as a clip of a single frame. [`Clip::set_single`] changes its pose.
    pub(crate) fn single_clip(&self) -> Clip {
        let mut clip = self.rig.rest.clone();
        for (block, first) in clip.blocks.iter_mut().zip((0..).step_by(COMPONENTS)) {
            let rows = Property::ALL.map(|property| first + property.first() as u32);
            *block = Block { rows, flags: 0 };
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
            for (component, to) in rows.iter_mut().enumerate() {
                *to = row(component, joints.iter().copied());
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
