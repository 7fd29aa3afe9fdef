//! Typed indices: one type for each kind of thing that a character has.

use crate::error::{Error, Result, listed};

/// Behaviour that all ids have in common.
pub(crate) trait Id: Copy {
    /// The word for it in error messages.
    const WHAT: &'static str;

    fn from_index(index: u16) -> Self;
}

/// Finds the first of `names` that is exactly `name`.
///
/// # Errors
/// [`Error::UnknownName`] with the names that exist.
pub(crate) fn find<'a, I: Id>(
    mut names: impl Iterator<Item = &'a str> + Clone,
    name: &str,
) -> Result<I> {
    let known = names.clone();
    let found = names.position(|other| other == name);
    let index = found.and_then(|index| u16::try_from(index).ok());
    index
        .map(I::from_index)
        .ok_or_else(|| unknown(I::WHAT, name, known))
}

/// The error for a name that does not exist.
pub(crate) fn unknown<'a>(
    what: &'static str,
    name: &str,
    known: impl Iterator<Item = &'a str>,
) -> Error {
    Error::UnknownName {
        what,
        name: name.into(),
        known: listed(known),
    }
}

macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident, $what:literal, $of:literal, $lookup:literal;)*) => {$(
        #[doc = concat!("The index of a ", $what, " of a ", $of, ".\n\n")]
        #[doc = concat!($lookup, " finds it by name.")]
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub u16);

        impl $name {
            /// As an index into a slice.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl Id for $name {
            const WHAT: &'static str = $what;

            fn from_index(index: u16) -> Self {
                Self(index)
            }
        }

        impl From<u16> for $name {
            fn from(index: u16) -> Self {
                Self(index)
            }
        }

        impl From<$name> for u16 {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl From<$name> for u64 {
            fn from(id: $name) -> Self {
                id.0.into()
            }
        }

        impl From<$name> for usize {
            fn from(id: $name) -> Self {
                id.index()
            }
        }
    )*};
}

ids! {
    #[doc(alias = "bone")]
    JointId, "joint", "skeleton", "[`Skeleton::joint`](crate::skeleton::Skeleton::joint)";
    ClipId, "clip", "character", "[`Character::clip`](crate::character::Character::clip)";
    MorphWeightId, "morph weight", "character",
        "[`Character::morph_weight`](crate::character::Character::morph_weight)";
    ExpressionId, "expression", "character",
        "[`Character::expression`](crate::character::Character::expression)";
    MaskId, "mask", "character", "[`Character::mask`](crate::character::Character::mask)";
    SocketId, "socket", "character",
        "[`Character::socket`](crate::character::Character::socket)";
    BlendSpaceId, "blend space", "character",
        "[`Character::blend_space`](crate::character::Character::blend_space)";
    EventId, "event", "character", "[`Character::event`](crate::character::Character::event)";
    StateId, "state", "layer of a state machine",
        "[`StateMachine::state`](crate::state_machine::StateMachine::state)";
    ParameterId, "parameter", "state machine",
        "[`StateMachine::parameter`](crate::state_machine::StateMachine::parameter)";
}
