//! Errors in the description of a state machine.

use super::{DescError, Error};
use core::fmt;

/// An error in a state machine's data or text, and its location.
///
/// The location is a part and its field, such as `to` or `motion.points[2].clip`.
pub type StateMachineError = DescError<StateMachinePart>;

impl StateMachineError {
    pub(crate) fn into_error(self) -> Error {
        Error::StateMachine(Box::new(self))
    }
}

/// A part of a state machine.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateMachinePart {
    /// The state machine as a whole.
    Whole,
    /// A parameter.
    Parameter {
        /// Its index, from 0.
        index: usize,
        /// Its name.
        name: Box<str>,
    },
    /// A mask.
    Mask {
        /// Its index, from 0.
        index: usize,
        /// Its name.
        name: Box<str>,
    },
    /// A layer.
    Layer {
        /// Its index, from 0.
        index: usize,
        /// Its name.
        name: Box<str>,
    },
    /// A state.
    State {
        /// The layer's name.
        layer: Box<str>,
        /// Its index, from 0.
        index: usize,
        /// Its name.
        name: Box<str>,
    },
    /// A transition.
    Transition {
        /// The layer's name.
        layer: Box<str>,
        /// Its index, from 0.
        index: usize,
        /// The name of the source state.
        from: Box<str>,
        /// The name of the target state.
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
