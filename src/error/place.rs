//! Files, lines, names and fields in error messages.

use super::names::Escaped;
use core::fmt;

/// The file and line of an error in a text, with the colon after them.
pub(super) struct Location<'a> {
    pub(super) file: &'a str,
    pub(super) line: Option<u32>,
}

impl fmt::Display for Location<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.file, self.line) {
            ("", None) => Ok(()),
            ("", Some(line)) => write!(f, "line {line}: "),
            (file, None) => write!(f, "{}: ", Escaped(file)),
            (file, Some(line)) => write!(f, "{}:{line}: ", Escaped(file)),
        }
    }
}

/// A path. The empty one in words.
pub(super) struct PathText<'a>(pub(super) &'a str);

impl fmt::Display for PathText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            "" => f.write_str("an empty path"),
            path => Escaped(path).fmt(f),
        }
    }
}

/// The kind of an error of the operating system, in words about a file, and what does not exist if
/// something is not found.
pub(super) struct IoKind(pub(super) std::io::ErrorKind, pub(super) &'static str);

impl fmt::Display for IoKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            std::io::ErrorKind::NotFound => write!(f, "{} does not exist", self.1),
            kind => kind.fmt(f),
        }
    }
}

/// A name in quotes, with the space before it. Nothing if the name is empty.
pub(super) struct Name<'a>(pub(super) &'a str);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            "" => Ok(()),
            name => write!(f, " \"{}\"", Escaped(name)),
        }
    }
}

/// The field of a part, with the comma before it. Nothing if the field is empty.
pub(super) struct Field<'a>(pub(super) &'a str);

impl fmt::Display for Field<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            "" => Ok(()),
            field => write!(f, ", {}", Escaped(field)),
        }
    }
}
