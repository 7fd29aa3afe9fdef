//! Errors in a description, which is plain data or the text it was read from.

use super::Error;
use core::fmt;

/// An error in a description's data or text, and its location.
///
/// `P` is the type that identifies the description's parts.
#[derive(Debug, Clone, PartialEq)]
pub struct DescError<P> {
    /// The name that the caller gave the text. Empty for data that did not come from text.
    pub file: Box<str>,
    /// The line in the text, from 1.
    pub line: Option<u32>,
    /// The part at fault.
    pub part: P,
    /// The field of the part, such as `points[2].clip`. Empty if the part as a whole is meant.
    pub field: Box<str>,
    /// The reason.
    pub why: DescFault,
}

impl<P: fmt::Display> fmt::Display for DescError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.file.is_empty() || self.line.is_some() {
            let name: &str = if self.file.is_empty() {
                "line "
            } else {
                &self.file
            };
            f.write_str(name)?;
            match self.line {
                Some(line) if self.file.is_empty() => write!(f, "{line}: ")?,
                Some(line) => write!(f, ":{line}: ")?,
                None => f.write_str(": ")?,
            }
        }
        write!(f, "{}", self.part)?;
        if !self.field.is_empty() {
            write!(f, ", {}", self.field)?;
        }
        write!(f, ": {}", self.why)
    }
}

impl<P: fmt::Debug + fmt::Display> core::error::Error for DescError<P> {}

/// The reason that a part of a description is invalid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DescFault {
    /// The text is not TOML, or does not have the description's form. Holds the parser's message.
    #[error("{0}")]
    Text(Box<str>),
    /// There are more than the cap allows.
    #[error("{asked} {what}, of which there may be {cap}")]
    Cap {
        /// The thing that is capped.
        what: &'static str,
        /// The number in the description.
        asked: usize,
        /// The largest number allowed.
        cap: usize,
    },
    /// A required item is missing.
    #[error("has no {0}")]
    Missing(&'static str),
    /// A name that does not exist.
    #[error("no {what} is called \"{name}\": there are {known}")]
    Unknown {
        /// The kind of thing that was named, such as `state`.
        what: &'static str,
        /// The name.
        name: Box<str>,
        /// The names that exist, separated by commas (cut after a few hundred characters).
        known: Box<str>,
    },
    /// A name that another item of the same list already has.
    #[error("is called like number {of} of its list")]
    Duplicate {
        /// The index of the other item, from 0.
        of: usize,
    },
    /// Text that is not valid as a name.
    #[error("\"{name}\" can't be a name: {why}")]
    Name {
        /// The name.
        name: Box<str>,
        /// The reason.
        why: &'static str,
    },
    /// A number that is not allowed here.
    #[error("is {value}, where {allowed} is allowed")]
    Value {
        /// The number.
        value: f64,
        /// The numbers that are allowed.
        allowed: &'static str,
    },
    /// A parameter of the wrong kind.
    #[error("parameter \"{parameter}\" is a {is}, where a {need} is needed")]
    Kind {
        /// The parameter's name.
        parameter: Box<str>,
        /// The kind that it has.
        is: &'static str,
        /// The kind that is needed.
        need: &'static str,
    },
    /// A clip that is additive where the layer is not, or the other way round.
    #[error("clip \"{clip}\" is {is}, the layer is not")]
    Additive {
        /// The clip's name.
        clip: Box<str>,
        /// The clip's kind: `additive` or `not additive`.
        is: &'static str,
    },
    /// Data that its own type rejected, such as points from which no blend can be made.
    #[error("{0}")]
    Refused(Box<Error>),
    /// Any other error.
    #[error("{0}")]
    Invalid(&'static str),
}

/// The text, cut after 200 characters.
pub(crate) fn cut(text: &str) -> Box<str> {
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}
