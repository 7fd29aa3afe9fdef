//! What is wrong with a description: plain data, or the text that it was read from.

use super::Error;
use core::fmt;

/// What is wrong with a description's data or text, and where. `P` is what its parts are called by.
#[derive(Debug, Clone, PartialEq)]
pub struct DescError<P> {
    /// The name that the caller gave the text; empty for data that came from none.
    pub file: Box<str>,
    /// The line in the text, from 1.
    pub line: Option<u32>,
    /// The part at fault.
    pub part: P,
    /// The field of the part, such as `points[2].clip`; empty if it is meant whole.
    pub field: Box<str>,
    /// What is wrong.
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

/// What is wrong with a part of a description.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DescFault {
    /// The text is not TOML, or not of the description's form: the parser's words.
    #[error("{0}")]
    Text(Box<str>),
    /// More than there may be.
    #[error("{asked} {what}, of which there may be {cap}")]
    Cap {
        /// What is capped.
        what: &'static str,
        /// How many there are.
        asked: usize,
        /// How many there may be.
        cap: usize,
    },
    /// There is none where one is needed.
    #[error("has no {0}")]
    Missing(&'static str),
    /// A name that nothing bears.
    #[error("no {what} is called \"{name}\": there are {known}")]
    Unknown {
        /// What was named, such as `state`.
        what: &'static str,
        /// The name.
        name: Box<str>,
        /// The names there are, separated by commas (cut after a few hundred characters).
        known: Box<str>,
    },
    /// A name that another one of the list bears.
    #[error("is called like number {of} of its list")]
    Duplicate {
        /// Which other one, from 0.
        of: usize,
    },
    /// A name that can't be one.
    #[error("\"{name}\" can't be a name: {why}")]
    Name {
        /// The name.
        name: Box<str>,
        /// The reason.
        why: &'static str,
    },
    /// A number that is not allowed there.
    #[error("is {value}, where {allowed} is allowed")]
    Value {
        /// The number.
        value: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A parameter of the wrong kind.
    #[error("parameter \"{parameter}\" is a {is}, where a {need} is needed")]
    Kind {
        /// The parameter's name.
        parameter: Box<str>,
        /// What it is.
        is: &'static str,
        /// What is needed.
        need: &'static str,
    },
    /// A clip that is additive where it may not be, or the other way round.
    #[error("clip \"{clip}\" is {is}, the layer is not")]
    Additive {
        /// The clip's name.
        clip: Box<str>,
        /// What the clip is: `additive` or `not additive`.
        is: &'static str,
    },
    /// Something that its own type refused, such as points from which no blend can be made.
    #[error("{0}")]
    Refused(Box<Error>),
    /// Anything else.
    #[error("{0}")]
    Invalid(&'static str),
}

/// At most 200 characters of a text.
pub(crate) fn cut(text: &str) -> Box<str> {
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}
