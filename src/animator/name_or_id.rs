//! References to parts of a character, by id or name.

use crate::id::Id;
use crate::mesh::PartId;

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

impl<T> From<Id<T>> for NameOrId<'_, Id<T>> {
    fn from(id: Id<T>) -> Self {
        Self::Id(id)
    }
}

impl From<PartId> for NameOrId<'_, PartId> {
    fn from(part: PartId) -> Self {
        Self::Id(part)
    }
}
