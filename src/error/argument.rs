//! The reasons for which an argument is rejected.

use super::range;

/// The reason for an [`Error::Argument`](crate::Error::Argument).
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentFault {
    /// Not a number, or infinite.
    #[error("{0} is not finite")]
    NotFinite(f64),
    /// Outside a closed range. An infinite limit, or one that is the largest number of its type, is
    /// no limit: the message leaves it out.
    #[error("{} {}", range::Number(*value), range::Limits { min: *min, max: *max })]
    OutOfRange {
        /// The value given.
        value: f64,
        /// The smallest value accepted.
        min: f64,
        /// The largest value accepted.
        max: f64,
    },
    /// A frame in flight that does not exist.
    #[error("{index} does not exist: there are 0..={last}, see {limit}")]
    FrameIndex {
        /// The index given.
        index: u32,
        /// The last index that exists.
        last: u32,
        /// The field that decides how many there are.
        limit: &'static str,
    },
    /// A slice of the wrong length.
    #[error("has {got} elements, needs {need}")]
    Length {
        /// The length that the caller gave.
        got: usize,
        /// The length that is needed.
        need: usize,
    },
    /// Equal to another one, where all must differ.
    #[error("is equal to that of element {of}")]
    Duplicate {
        /// The index of the other one.
        of: usize,
    },
    /// Of another kind than what it is for.
    #[error("is of kind {got}, must be of kind {need}")]
    Kind {
        /// The kind that the caller gave.
        got: &'static str,
        /// The kind that is needed.
        need: &'static str,
    },
    /// Living objects where there must be none.
    #[error("{count} still alive: despawn them first")]
    Alive {
        /// The number of them that are alive.
        count: usize,
    },
    /// A snapshot of a character with other joints, clips or whatever `kind` says.
    #[error("{}", other_character(kind, *got, *need))]
    OtherCharacter {
        /// The kind of things that differ, such as `clips`.
        kind: &'static str,
        /// Their number in the character of the snapshot.
        got: u32,
        /// Their number in this character.
        need: u32,
    },
    /// A value or combination that makes no sense. The text says which.
    #[error("{0}")]
    Invalid(&'static str),
}

fn other_character(kind: &str, got: u32, need: u32) -> String {
    if got == need {
        format!("is of another character: its {got} {kind} have other names, or another order")
    } else {
        format!("is of another character: that has {got} {kind}, this one has {need}")
    }
}
