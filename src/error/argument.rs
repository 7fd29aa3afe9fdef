//! The reasons for which an argument is rejected.

use core::fmt::{Display, Formatter, Result};

/// The reason for an [`Error::Argument`](crate::Error::Argument).
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentFault {
    /// Not a number, or infinite.
    #[error("{0} is not finite")]
    NotFinite(f64),
    /// Outside a closed range. An infinite limit, or one that is the largest number of its type, is
    /// no limit: the message leaves it out.
    #[error("{} {}", Number(*value), Limits { min: *min, max: *max })]
    OutOfRange {
        /// The value given.
        value: f64,
        /// The smallest value accepted.
        min: f64,
        /// The largest value accepted.
        max: f64,
    },
    /// The time of a picture that is not in the second after the last update.
    #[error("{} lies outside {}..={}, the second after the last update: call update first",
        Number(*value), Number(*updated), Number(*updated + 1.0))]
    NotUpdated {
        /// The time given, in seconds.
        value: f64,
        /// The time of the last update, in seconds.
        updated: f64,
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

/// A number in few digits, even if it is very large or very small.
///
/// A fraction that fits an `f32` is shown as one: as 1.1, not as 1.100000023841858.
pub(super) struct Number(pub(super) f64);

impl Display for Number {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Self(value) = *self;
        let is_plain = value == 0.0 || (1e-6..1e15).contains(&value.abs());
        let short = value as f32;
        // Integers below 1e15 have few digits anyway, and may be counts.
        let is_short = f64::from(short) == value && !(is_plain && value.fract() == 0.0);
        match (is_plain, is_short) {
            (true, true) => write!(f, "{short}"),
            (true, false) => write!(f, "{value}"),
            (false, true) => write!(f, "{short:e}"),
            (false, false) => write!(f, "{value:e}"),
        }
    }
}

/// The limits of a value. The text leaves out a limit that is infinite or the largest number of its
/// type.
pub(super) struct Limits {
    pub(super) min: f64,
    pub(super) max: f64,
}

impl Display for Limits {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Self { min, max } = *self;
        // The smallest positive number means an open lower end at 0.
        let is_open = min == f64::MIN_POSITIVE || min == f64::from(f32::MIN_POSITIVE);
        let (low, high) = (Number(min), Number(max));
        match (is_limit(min), is_limit(max)) {
            (true, true) if is_open => write!(f, "must be more than 0 and at most {high}"),
            (true, true) => write!(f, "lies outside {low}..={high}"),
            (true, false) if is_open => write!(f, "must be more than 0"),
            (true, false) => write!(f, "must be at least {low}"),
            (false, true) => write!(f, "must be at most {high}"),
            (false, false) => write!(f, "must be finite"),
        }
    }
}

fn is_limit(end: f64) -> bool {
    let end = end.abs();
    end != f64::from(f32::MAX) && end < f64::MAX
}
