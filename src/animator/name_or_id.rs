//! References to what a character has, by id or name.

use crate::error::{Result, expect_index};
use crate::id::{Id, find};
use crate::mesh::PartId;

/// Selects something that a character has, by its id or its name.
///
/// Clips, blend spaces, masks, expressions, morph weights, parts and the parameters of a state
/// machine are selected like this. A name is searched for in a list; an id costs nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NameOrId<'a, I> {
    /// By its id.
    Id(I),
    /// By its name.
    Name(&'a str),
}

impl<T> NameOrId<'_, Id<T>> {
    /// The id, if it is in range or one of `names` is this name. `what` is the word for errors.
    pub(crate) fn find<'n>(
        self,
        what: &'static str,
        names: impl ExactSizeIterator<Item = &'n str> + Clone,
    ) -> Result<Id<T>> {
        match self {
            Self::Name(name) => find(what, names, name),
            Self::Id(id) => expect_index(what, id.index(), names.len()).map(|()| id),
        }
    }
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
