//! The parts of a description that errors name, and their locations in messages.

use super::names::Escaped;
use core::fmt;

/// Declares the parts: those that are elements of a list of their file, with the word for them in
/// messages, and the others.
macro_rules! parts {
    (
        $(#[$attribute:meta])* pub enum DescPart { $($others:tt)* }
        listed: $($doc:literal $listed:ident $word:literal,)*
    ) => {
        $(#[$attribute])*
        pub enum DescPart {
            $(
                #[doc = $doc]
                $listed {
                    /// Its index in the list, from 0.
                    index: usize,
                    /// Its name.
                    name: Box<str>,
                },
            )*
            $($others)*
        }

        impl DescPart {
            /// The kind, the index and the name of a part that is in a list of its file.
            pub(super) fn listed(&self) -> Option<(&'static str, usize, &str)> {
                match self {
                    $(Self::$listed { index, name } => Some(($word, *index, name)),)*
                    _ => None,
                }
            }
        }
    };
}

parts! {
    /// A part of an [`AnimationDesc`](crate::character::AnimationDesc) or a
    /// [`StateMachineDesc`](crate::state_machine::StateMachineDesc).
    #[derive(Debug, Clone, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum DescPart {
        /// The animation description as a whole, or one of its own fields.
        Animation,
        /// The state machine as a whole, or one of its own fields.
        StateMachine,
        /// A state.
        State {
            /// The layer's name.
            layer: Box<str>,
            /// Its index in the layer, from 0.
            index: usize,
            /// Its name.
            name: Box<str>,
        },
        /// A transition.
        Transition {
            /// The layer's name.
            layer: Box<str>,
            /// Its index in the layer, from 0.
            index: usize,
            /// The name of the source state.
            from: Box<str>,
            /// The name of the target state.
            to: Box<str>,
        },
    }
    listed:
    "A mask." Mask "mask",
    "A clip. Its index is that in the description." Clip "clip",
    "An additive clip." AdditiveClip "additive clip",
    "A blend space." BlendSpace "blend space",
    "A socket." Socket "socket",
    "A parameter of a state machine." Parameter "parameter",
    "A layer of a state machine." Layer "layer",
}

impl fmt::Display for DescPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((kind, index, name)) = self.listed() {
            return write!(f, "{kind} {index} \"{}\"", Escaped(name));
        }
        match self {
            Self::StateMachine => f.write_str("state machine"),
            Self::State { layer, index, name } => {
                let (layer, name) = (Escaped(layer), Escaped(name));
                write!(f, "layer \"{layer}\", state {index} \"{name}\"")
            }
            Self::Transition {
                layer,
                index,
                from,
                to,
            } => {
                let (layer, from, to) = (Escaped(layer), Escaped(from), Escaped(to));
                write!(
                    f,
                    "layer \"{layer}\", transition {index} \"{from}\" → \"{to}\""
                )
            }
            _ => f.write_str("animation"),
        }
    }
}

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
