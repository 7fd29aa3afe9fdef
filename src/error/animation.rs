//! Errors in the description of a character's animation.

use super::{DescError, Error};
use core::fmt;

/// An error in the description of a character's animation, and its location.
///
/// The location is a part and its field, such as `events[2].time_s`.
pub type AnimationError = DescError<AnimationPart>;

impl AnimationError {
    pub(crate) fn into_error(self) -> Error {
        Error::Animation(Box::new(self))
    }
}

/// A part of an [`AnimationDesc`](crate::character::AnimationDesc).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnimationPart {
    /// The description as a whole, or one of its own fields.
    Whole,
    /// An element of one of its lists.
    Element {
        /// The list.
        list: AnimationList,
        /// The index in the list, from 0.
        index: usize,
        /// Its name.
        name: Box<str>,
    },
}

/// The lists of an [`AnimationDesc`](crate::character::AnimationDesc).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum AnimationList {
    /// [`AnimationDesc::masks`](crate::character::AnimationDesc::masks).
    Mask,
    /// [`AnimationDesc::clips`](crate::character::AnimationDesc::clips).
    Clip,
    /// [`AnimationDesc::additive`](crate::character::AnimationDesc::additive).
    Additive,
    /// [`AnimationDesc::blend_spaces`](crate::character::AnimationDesc::blend_spaces).
    BlendSpace,
    /// [`AnimationDesc::sockets`](crate::character::AnimationDesc::sockets).
    Socket,
}

impl fmt::Display for AnimationList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mask => "mask",
            Self::Clip => "clip",
            Self::Additive => "additive clip",
            Self::BlendSpace => "blend space",
            Self::Socket => "socket",
        })
    }
}

impl fmt::Display for AnimationPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("animation"),
            Self::Element { list, index, name } => write!(f, "{list} {index} \"{name}\""),
        }
    }
}
