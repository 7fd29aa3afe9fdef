//! What is wrong with a state machine, and where.

use super::desc::StateMachineDesc;
use crate::error::Error;
use core::fmt;

/// What is wrong with a state machine's data or text, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct StateMachineError {
    /// The name that the caller gave the text; empty for data that came from none.
    pub file: Box<str>,
    /// The line in the text, from 1.
    pub line: Option<u32>,
    /// The part at fault.
    pub part: StateMachinePart,
    /// The field of the part, such as `to` or `motion.points[2].clip`; empty if it is meant whole.
    pub field: Box<str>,
    /// What is wrong.
    pub why: StateMachineFault,
}

impl fmt::Display for StateMachineError {
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

impl core::error::Error for StateMachineError {}

impl StateMachineError {
    pub(super) fn into_error(self) -> Error {
        Error::StateMachine(Box::new(self))
    }
}

/// A part of a state machine.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateMachinePart {
    /// All of it.
    Whole,
    /// A parameter.
    Parameter {
        /// Which, from 0.
        index: usize,
        /// Its name.
        name: Box<str>,
    },
    /// A mask.
    Mask {
        /// Which, from 0.
        index: usize,
        /// Its name.
        name: Box<str>,
    },
    /// A layer.
    Layer {
        /// Which, from 0.
        index: usize,
        /// Its name.
        name: Box<str>,
    },
    /// A state.
    State {
        /// The layer's name.
        layer: Box<str>,
        /// Which, from 0.
        index: usize,
        /// Its name.
        name: Box<str>,
    },
    /// A transition.
    Transition {
        /// The layer's name.
        layer: Box<str>,
        /// Which, from 0.
        index: usize,
        /// The name of the state from which it leads.
        from: Box<str>,
        /// The name of the state to which it leads.
        to: Box<str>,
    },
}

impl fmt::Display for StateMachinePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("state machine"),
            Self::Parameter { index, name } => write!(f, "parameter {index} \"{name}\""),
            Self::Mask { index, name } => write!(f, "mask {index} \"{name}\""),
            Self::Layer { index, name } => write!(f, "layer {index} \"{name}\""),
            Self::State { layer, index, name } => {
                write!(f, "layer \"{layer}\", state {index} \"{name}\"")
            }
            Self::Transition {
                layer,
                index,
                from,
                to,
            } => write!(
                f,
                "layer \"{layer}\", transition {index} \"{from}\" → \"{to}\""
            ),
        }
    }
}

/// What is wrong with a part of a state machine.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StateMachineFault {
    /// The text is not TOML, or not of a state machine's form: the parser's words.
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

/// Where a part is, as data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum At {
    Whole,
    Parameter(usize),
    Mask(usize),
    Layer(usize),
    State(usize, usize),
    Transition(usize, usize),
}

/// A fault before its part is named.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) at: At,
    pub(super) field: String,
    pub(super) why: StateMachineFault,
}

impl Fault {
    pub(super) fn new(at: At, field: impl Into<String>, why: StateMachineFault) -> Self {
        Self {
            at,
            field: field.into(),
            why,
        }
    }
}

impl Fault {
    /// With the name of its part.
    pub(super) fn named(self, desc: &StateMachineDesc) -> StateMachineError {
        StateMachineError {
            file: Box::default(),
            line: None,
            part: part(desc, self.at),
            field: self.field.into(),
            why: self.why,
        }
    }
}

fn part(desc: &StateMachineDesc, at: At) -> StateMachinePart {
    let layer_name = |layer: usize| desc.layers.get(layer).map_or("", |layer| &layer.name);
    match at {
        At::Whole => StateMachinePart::Whole,
        At::Parameter(index) => StateMachinePart::Parameter {
            index,
            name: cut(desc.parameters.get(index).map_or("", |found| &found.name)),
        },
        At::Mask(index) => StateMachinePart::Mask {
            index,
            name: cut(desc.masks.get(index).map_or("", |found| &found.name)),
        },
        At::Layer(index) => StateMachinePart::Layer {
            index,
            name: cut(layer_name(index)),
        },
        At::State(layer, index) => {
            let state = desc.layers.get(layer).and_then(|l| l.states.get(index));
            StateMachinePart::State {
                layer: cut(layer_name(layer)),
                index,
                name: cut(state.map_or("", |state| &state.name)),
            }
        }
        At::Transition(layer, index) => {
            let layers = desc.layers.get(layer);
            let found = layers.and_then(|layer| layer.transitions.get(index));
            StateMachinePart::Transition {
                layer: cut(layer_name(layer)),
                index,
                from: cut(found.map_or("", |found| found.from.name())),
                to: cut(found.map_or("", |found| &found.to)),
            }
        }
    }
}

/// At most 200 characters of a text.
pub(super) fn cut(text: &str) -> Box<str> {
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}
