//! Computes poses and palettes of many instances of one skeleton together.

use super::rig::Rig;
use super::scratch::Scratch;
use crate::character::Character;
use crate::error::{Result, expect_len};
use crate::scratch_pool::ScratchPool;
use crate::simd::{Row, SimdLevel, Unit, WIDTH};
use crate::skeleton::Mask;

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
    ///
    /// # Errors
    /// [`Error::At`](crate::Error::At) with the first mask that does not have one weight per joint.
    pub(crate) fn new(character: &Character, masks: &[Mask]) -> Result<Self> {
        let rig = Rig::new(character)?;
        let masks = masks.iter().enumerate().map(|(index, mask)| {
            let weights = mask.weights();
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
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if this CPU cannot run it.
    pub(crate) fn set_simd_level(&mut self, level: SimdLevel) -> Result<()> {
        self.unit = Unit::of(level)?;
        Ok(())
    }

    /// The SIMD level in use.
    pub(crate) const fn simd_level(&self) -> SimdLevel {
        self.unit.level()
    }

    /// The number of entries in a palette.
    pub(crate) fn entries(&self) -> usize {
        self.rig.entries.len()
    }
}
