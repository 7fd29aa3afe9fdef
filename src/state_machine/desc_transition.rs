//! Transitions as plain data.

use super::condition::Condition;
#[cfg(feature = "serde")]
use super::desc::{is_default, is_yes, yes};
use crate::motion::Ease;

/// A way from one state to another.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct TransitionDesc {
    /// Where it starts.
    pub from: Origin,
    /// The name of the state to which it leads.
    pub to: String,
    /// All must hold, as in `when = ["speed > 0.1", "grounded", "!crouched"]`. With neither a
    /// condition nor an exit time it fires at once.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Vec::is_empty")
    )]
    pub when: Vec<Condition>,
    /// The phase that the state must have come to. In a state that starts over, a phase below 1 is
    /// met once in every loop, and the transition fires there or not; from 1 on (2.5 is in the
    /// middle of the third loop), and in a state that plays once, it may fire from there on.
    /// Backwards, the end of the motion counts as 0 for the latter.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub exit: Option<f32>,
    /// How long the cross-fade takes, in seconds; 0 cuts.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_default"))]
    pub fade_s: f32,
    /// How long an inertialised transition takes, in seconds, in place of a fade; 0 for none. The
    /// state is left at once, and what the pose and its velocity were off decays: see
    /// [`Play::inertial_s`](crate::animator::Play::inertial_s). Only
    /// [`Animator`](crate::animator::Animator) does so; else it is a cut.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_default"))]
    pub inertial_s: f32,
    /// How the weights move.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_default"))]
    pub ease: Ease,
    /// Whether the new state starts at the phase of the old one, which then goes in step with it
    /// until it has faded.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_default"))]
    pub sync: Sync,
    /// The phase at which the new state starts, in place of the state's own.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub start: Option<f32>,
    /// What can fire while this one fades.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_default"))]
    pub interruption: Interruption,
    /// Whether, of the source's transitions, only those listed before this one can interrupt it.
    #[cfg_attr(
        feature = "serde",
        serde(default = "yes", skip_serializing_if = "is_yes")
    )]
    pub ordered: bool,
    /// Whether a transition from any state can lead from a state to itself.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_default"))]
    pub to_self: bool,
}

impl TransitionDesc {
    /// A cut that fires at once.
    #[must_use]
    pub fn new(from: Origin, to: &str) -> Self {
        Self {
            from,
            to: to.into(),
            when: Vec::new(),
            exit: None,
            fade_s: 0.0,
            inertial_s: 0.0,
            ease: Ease::Smooth,
            sync: Sync::None,
            start: None,
            interruption: Interruption::None,
            ordered: true,
            to_self: false,
        }
    }
}

/// Where a transition starts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(from = "String", into = "String")
)]
pub enum Origin {
    /// In the state of this name.
    State(String),
    /// In any state; `(any)` in text.
    Any,
    /// At the start: it chooses another state than the layer's entry, before any time has passed;
    /// `(entry)` in text.
    Entry,
}

impl From<String> for Origin {
    fn from(text: String) -> Self {
        match text.as_str() {
            "(any)" => Self::Any,
            "(entry)" => Self::Entry,
            _ => Self::State(text),
        }
    }
}

impl From<Origin> for String {
    fn from(origin: Origin) -> Self {
        origin.name().into()
    }
}

impl Origin {
    /// As it is written in text.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::State(name) => name,
            Self::Any => "(any)",
            Self::Entry => "(entry)",
        }
    }
}

/// Whether a new state starts where the old one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum Sync {
    /// It starts at its own start.
    #[default]
    None,
    /// It starts at the old state's phase; during the fade the old state goes at the new one's
    /// pace.
    Phase,
}

/// Which transitions can interrupt a fade. The weights reached fade out from there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum Interruption {
    /// None: all wait for its end.
    #[default]
    None,
    /// Those of the state that it came from.
    Source,
    /// Those of the state that it leads to.
    Target,
    /// Both, the source's first.
    SourceThenTarget,
    /// Both, the target's first.
    TargetThenSource,
}
