//! References to parts of a character, by id or name.

use crate::ids::{BlendSpaceId, ClipId, ExpressionId, MaskId};

/// Selects a clip, a blend space, a mask or an expression of a character, by its id or its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NameOrId<'a, I> {
    /// By its id.
    Id(I),
    /// By its name.
    Name(&'a str),
}

impl<'a, I> From<&'a str> for NameOrId<'a, I> {
    fn from(name: &'a str) -> Self {
        Self::Name(name)
    }
}

impl From<ClipId> for NameOrId<'_, ClipId> {
    fn from(clip: ClipId) -> Self {
        Self::Id(clip)
    }
}

impl From<BlendSpaceId> for NameOrId<'_, BlendSpaceId> {
    fn from(space: BlendSpaceId) -> Self {
        Self::Id(space)
    }
}

impl From<MaskId> for NameOrId<'_, MaskId> {
    fn from(mask: MaskId) -> Self {
        Self::Id(mask)
    }
}

impl From<ExpressionId> for NameOrId<'_, ExpressionId> {
    fn from(expression: ExpressionId) -> Self {
        Self::Id(expression)
    }
}
