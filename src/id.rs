//! Typed indices.

use crate::error::{Error, Result, cut, nearest_or_id};
use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;

/// The index of a `T`, such as a joint or a clip of a character.
///
/// The type keeps indices of different things apart. An id is valid for the object that gave it and
/// for objects that have the same items in the same order. For an id that is out of range,
/// functions return an error or an empty result.
///
/// | id of | found by name with |
/// |---|---|
/// | [`Joint`](crate::skeleton::Joint) | [`Skeleton::joint`](crate::skeleton::Skeleton::joint) |
/// | [`Clip`](crate::clip::Clip) | [`Character::clip`](crate::character::Character::clip) |
/// | [`MorphWeight`](crate::mesh::MorphWeight) | [`Character::morph_weight`] |
/// | [`Expression`](crate::mesh::Expression) | [`Character::expression`] |
/// | [`Mask`](crate::skeleton::Mask) | [`Character::mask`] |
/// | [`Socket`](crate::skeleton::Socket) | [`Character::socket`] |
/// | [`BlendSpace`](crate::motion::BlendSpace) | [`Character::blend_space`] |
/// | [`EventDesc`](crate::character::EventDesc), the events of one name | [`Character::event`] |
/// | [`StateDesc`](crate::state_machine::StateDesc), within its layer | [`StateMachine::state`] |
/// | [`ParameterDesc`](crate::state_machine::ParameterDesc) | [`StateMachine::parameter`] |
///
/// [`Animator::add_solver`](crate::animator::Animator::add_solver) returns the id of an
/// [`IkSolver`](crate::IkSolver).
///
/// [`Character::morph_weight`]: crate::character::Character::morph_weight
/// [`Character::expression`]: crate::character::Character::expression
/// [`Character::mask`]: crate::character::Character::mask
/// [`Character::socket`]: crate::character::Character::socket
/// [`Character::blend_space`]: crate::character::Character::blend_space
/// [`Character::event`]: crate::character::Character::event
/// [`StateMachine::state`]: crate::state_machine::StateMachine::state
/// [`StateMachine::parameter`]: crate::state_machine::StateMachine::parameter
///
/// ```
/// use throng::Id;
/// use throng::skeleton::Joint;
///
/// let mannequin = throng::builtin::mannequin()?;
/// let head: Id<Joint> = mannequin.skeleton().joint("Head")?;
/// let parent: Option<Id<Joint>> = mannequin.skeleton().joints()[head.index()].parent;
///
/// let root: Id<Joint> = Id::new(0);
/// assert!(parent.is_some_and(|parent| root < parent && parent < head));
/// # Ok::<(), throng::Error>(())
/// ```
#[doc(alias("JointId", "ClipId", "handle"))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent, bound = ""))]
pub struct Id<T>(pub u16, PhantomData<fn() -> T>);

impl<T> Id<T> {
    /// The id of the `T` at `index`.
    #[must_use]
    pub const fn new(index: u16) -> Self {
        Self(index, PhantomData)
    }

    /// Returns the number as an index into a slice.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

// Not derived: a derived `Clone` would require `T: Clone`, and so on.

impl<T> Clone for Id<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Id<T> {}

impl<T> PartialEq for Id<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T> Eq for Id<T> {}

impl<T> PartialOrd for Id<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Id<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}

impl<T> Hash for Id<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl<T> Default for Id<T> {
    fn default() -> Self {
        Self::new(0)
    }
}

impl<T> fmt::Debug for Id<T> {
    /// Writes the type without its path and generics, and the index: `Id<Joint>(3)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = core::any::type_name::<T>();
        let name = name.split('<').next().unwrap_or(name);
        let name = name.rsplit("::").next().unwrap_or(name);
        write!(f, "Id<{name}>({})", self.0)
    }
}

impl<T> From<u16> for Id<T> {
    fn from(index: u16) -> Self {
        Self::new(index)
    }
}

impl<T> From<Id<T>> for u16 {
    fn from(id: Id<T>) -> Self {
        id.0
    }
}

impl<T> From<Id<T>> for u64 {
    fn from(id: Id<T>) -> Self {
        id.0.into()
    }
}

impl<T> From<Id<T>> for usize {
    fn from(id: Id<T>) -> Self {
        id.index()
    }
}

/// The ids of a table with gaps, and the number of those that are left.
pub(crate) struct Ids<I> {
    pub(crate) ids: I,
    pub(crate) left: usize,
}

impl<I: Iterator> Iterator for Ids<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        let id = self.ids.next()?;
        self.left -= 1;
        Some(id)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<I: Iterator> ExactSizeIterator for Ids<I> {}

/// Finds the first of `names` that is exactly `name`. `what` is the word for it in the error.
pub(crate) fn find<'a, T>(
    what: &'static str,
    mut names: impl Iterator<Item = &'a str> + Clone,
    name: &str,
) -> Result<Id<T>> {
    let known = names.clone();
    let found = names.position(|other| other == name);
    let index = found.and_then(|index| u16::try_from(index).ok());
    index.map(Id::new).ok_or_else(|| unknown(what, name, known))
}

/// The error for a name that does not exist.
pub(crate) fn unknown<'a>(
    what: &'static str,
    name: &str,
    known: impl Iterator<Item = &'a str>,
) -> Error {
    Error::UnknownName {
        what,
        name: cut(name),
        known: nearest_or_id(name, known),
    }
}
