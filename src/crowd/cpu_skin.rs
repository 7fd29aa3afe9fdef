//! The data for skinning the instances of a character on the CPU.

use crate::character::Character;
use crate::error::Result;
use crate::gpu::palettes;
use crate::gpu::palettes::Row;
use crate::palette::PaletteFormat;
use crate::skin::Skinner;

/// The CPU data for skinning a character's instances there.
#[derive(Debug)]
pub(super) struct CpuSkin {
    pub(super) skinner: Skinner,
    /// The rest pose's palette.
    pub(super) rest: Vec<Row>,
}

impl CpuSkin {
    pub(super) fn new(character: &Character, format: PaletteFormat) -> Result<Self> {
        Ok(Self {
            skinner: Skinner::new(character)?,
            rest: palettes::rest(character, format)?,
        })
    }
}
