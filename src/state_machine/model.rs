//! The runtime form of a state machine: names are resolved to indices, and all of them exist.

use super::desc::{Interruption, ParameterKind};
use crate::clip::Clip;
use crate::id::Id;
use crate::motion::{BlendShape, Ease, LoopMode};
use glam::DVec3;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parameter {
    pub(super) name: Box<str>,
    pub(super) kind: ParameterKind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layer {
    pub(super) name: Box<str>,
    pub(super) entry: u16,
    pub(super) mask: Option<u16>,
    pub(super) weight: Scaled,
    pub(super) additive: bool,
    pub(super) states: Vec<State>,
    pub(super) transitions: Vec<Transition>,
    /// The transitions that choose the first state.
    pub(super) at_entry: Vec<u16>,
}

/// A constant multiplied by a parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scaled {
    pub(super) constant: f32,
    pub(super) parameter: Option<u16>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct State {
    pub(super) name: Box<str>,
    pub(super) speed: Scaled,
    pub(super) ground: Option<Ground>,
    pub(super) wrap: LoopMode,
    pub(super) start: f64,
    pub(super) motion: Motion,
    /// The transitions that can start here, in order: the state's own and those of any state.
    pub(super) out: Vec<u16>,
}

/// The speed over the ground that a state follows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ground {
    /// The parameter that is the wanted speed. `None`: the length of the position in the blend.
    pub(super) parameter: Option<u16>,
    /// The limits of the playback speed.
    pub(super) limits: [f64; 2],
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Motion {
    None,
    Clip(Played),
    Blend {
        /// On a line, both are the same.
        parameters: [u16; 2],
        shape: BlendShape,
        clips: Vec<Played>,
    },
}

/// A clip, its duration, and its velocity over the ground at speed 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Played {
    pub(super) clip: Id<Clip>,
    pub(super) duration_s: f64,
    pub(super) velocity: DVec3,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Transition {
    /// The source state. `None` means any state, or the entry.
    pub(super) from: Option<u16>,
    pub(super) to: u16,
    pub(super) when: Vec<Asked>,
    pub(super) exit: Option<f64>,
    pub(super) fade_s: f64,
    pub(super) inertial_s: f64,
    pub(super) ease: Ease,
    pub(super) synced: bool,
    pub(super) start: Option<f64>,
    pub(super) interruption: Interruption,
    pub(super) ordered: bool,
    pub(super) to_self: bool,
}

/// A condition on a parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Asked {
    pub(super) parameter: u16,
    pub(super) test: Compare,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Compare {
    Float(Order, f32),
    Int(Order, i32),
    Bool(bool),
    Trigger,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Greater,
    GreaterEqual,
    Less,
    LessEqual,
    Equal,
    NotEqual,
}

impl Order {
    pub(super) fn holds<T: PartialOrd>(self, left: T, right: T) -> bool {
        match self {
            Self::Greater => left > right,
            Self::GreaterEqual => left >= right,
            Self::Less => left < right,
            Self::LessEqual => left <= right,
            Self::Equal => left == right,
            Self::NotEqual => left != right,
        }
    }
}
