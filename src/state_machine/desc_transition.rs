//! The plain-data description of transitions.

use super::condition::Condition;
use crate::motion::Ease;

/// A transition from one state to another.
#[derive(Debug, Clone, PartialEq)]
pub struct TransitionDesc {
    /// The state that the transition leaves, or any state, or the entry.
    pub from: Origin,
    /// The name of the state that the transition enters.
    pub to: String,
    /// Conditions that must all hold, such as `when = ["speed > 0.1", "grounded", "!crouched"]`.
    ///
    /// A transition with neither a condition nor an exit time fires at once.
    pub when: Vec<Condition>,
    /// The exit time: the phase that the state must have reached.
    ///
    /// - In a state that loops, a phase below 1 is met once in every cycle. The transition either
    ///   fires there or waits for the next cycle.
    /// - From 1 on (2.5 is the middle of the third cycle), and in a state that plays once, the
    ///   transition can fire at any time after that phase.
    /// - Where the second rule applies and the state plays backwards, the exit time counts back
    ///   from the end of the motion, which is 0.
    pub exit: Option<f32>,
    /// Duration of the cross-fade in seconds; 0 cuts.
    pub fade_s: f32,
    /// Duration of an inertialised transition in seconds, instead of a fade; 0 for none.
    ///
    /// The old state is left at once. The differences in pose and velocity then decay, as at
    /// [`Play::inertial_s`](crate::animator::Play::inertial_s). Only the
    /// [`Animator`](crate::animator::Animator) supports this. Everywhere else the transition is a
    /// cut.
    pub inertial_s: f32,
    /// The easing curve of the weights.
    pub ease: Ease,
    /// If true, the new state starts at the phase of the old one.
    ///
    /// The old state then advances in step with the new one until it has faded out, as at
    /// [`Play::synced`](crate::animator::Play::synced).
    pub synced: bool,
    /// The phase at which the new state starts, which replaces the state's own.
    pub start: Option<f32>,
    /// The transitions that can interrupt the fade of this one.
    pub interruption: Interruption,
    /// If true, only the source's transitions listed before this one can interrupt it.
    pub ordered: bool,
    /// If true, a transition from any state can lead from a state to itself.
    pub to_self: bool,
}

impl TransitionDesc {
    /// Creates a cut that fires at once.
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
            synced: false,
            start: None,
            interruption: Interruption::None,
            ordered: true,
            to_self: false,
        }
    }
}

/// The start of a transition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The state with this name.
    State(String),
    /// Any state; `(any)` in text.
    Any,
    /// The entry; `(entry)` in text.
    ///
    /// The transition replaces the layer's entry state before any time has passed.
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
    /// The origin as it is written in text.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::State(name) => name,
            Self::Any => "(any)",
            Self::Entry => "(entry)",
        }
    }
}

/// The transitions that can interrupt a fade.
///
/// The states of an interrupted fade fade out from the weights reached so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Interruption {
    /// None: all transitions wait until the fade ends.
    #[default]
    None,
    /// The transitions of the state that the fade leaves.
    Source,
    /// The transitions of the state that the fade enters.
    Target,
    /// Both, those of the source first.
    SourceThenTarget,
    /// Both, those of the target first.
    TargetThenSource,
}
