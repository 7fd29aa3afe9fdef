//! Ranges of indices, and how their fragments are blended.

use crate::character::DrawGroup;
use crate::mesh::AlphaMode;

/// The kind of a draw's [`AlphaMode`], which is part of its pipeline's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Blending {
    /// All fragments are written.
    Opaque,
    /// Fragments that the material's alpha mask accepts are written.
    Mask,
    /// Fragments are blended over what lies behind, after everything else.
    Blend,
}

impl Blending {
    pub(crate) const fn of(alpha: AlphaMode) -> Self {
        match alpha {
            AlphaMode::Opaque => Self::Opaque,
            AlphaMode::Mask { .. } => Self::Mask,
            AlphaMode::Blend => Self::Blend,
        }
    }
}

/// A range of a geometry buffer's indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DrawRange {
    /// In units of the index type, from the start of the buffer.
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// True if indices have 16 bits, otherwise 32.
    pub(crate) narrow: bool,
    pub(crate) group: DrawGroup,
}
