//! The validated state machine, and the limits of its size.

use super::desc::StateMachineDesc;
use super::model::{Layer, Parameter, State};
use crate::clip::{Clip, CurveClip};
use crate::error::{Error, Result};
use crate::ids::{StateId, find, unknown};
use crate::motion::BlendSpace;
use crate::skeleton::{Mask, Skeleton};

/// The most parameters that a state machine can have.
pub const MAX_PARAMETERS: usize = 256;

/// The most masks that a state machine can have.
pub const MAX_MASKS: usize = 64;

/// The most layers that a state machine can have.
pub const MAX_LAYERS: usize = 16;

/// The most states that a layer can have.
pub const MAX_STATES: usize = 256;

/// The most transitions that a layer can have.
pub const MAX_TRANSITIONS: usize = 1024;

/// The most conditions that a transition can have.
pub const MAX_CONDITIONS: usize = 16;

/// The longest fade, in seconds.
pub const MAX_FADE_S: f32 = 3600.0;

/// The largest absolute time, in seconds.
///
/// 1e12 s is 30,000 years. There, one step of an `f64` is 0.1 ms.
pub const MAX_TIME_S: f64 = 1e12;

/// The most events and transitions that one update handles per instance.
pub(crate) const MAX_STEPS: usize = 256;

/// The facts about a clip that a state machine needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StateMachineClip<'c> {
    /// The name of the clip.
    pub name: &'c str,
    /// Duration in seconds, from 0 to [`MAX_TIME_S`].
    pub duration_s: f64,
    /// `Some(true)` if the clip is additive. `None` if unknown: then it is accepted on any layer.
    pub additive: Option<bool>,
}

impl<'c> From<&'c CurveClip> for StateMachineClip<'c> {
    fn from(clip: &'c CurveClip) -> Self {
        Self {
            name: clip.name(),
            duration_s: clip.duration_s().into(),
            additive: None,
        }
    }
}

impl<'c> From<&'c Clip> for StateMachineClip<'c> {
    fn from(clip: &'c Clip) -> Self {
        Self {
            name: clip.name(),
            duration_s: clip.duration_s(),
            additive: Some(clip.is_additive()),
        }
    }
}

/// A validated state machine: all names exist and all numbers are valid.
///
/// ```
/// use throng::state_machine::{
///     LayerDesc, Origin, ParameterDesc, ParameterKind, StateDesc, StateMachine, StateMachineDesc,
///     StateMachineLog, TransitionDesc,
/// };
///
/// let character = throng::builtin::mannequin()?.character;
/// let speed = ParameterKind::Float { default: 0.0, min: Some(0.0), max: None };
/// let desc = StateMachineDesc {
///     parameters: vec![ParameterDesc { name: "speed".into(), kind: speed }],
///     masks: Vec::new(),
///     layers: vec![LayerDesc {
///         states: vec![StateDesc::clip("stand", "Idle"), StateDesc::clip("go", "Walk")],
///         transitions: vec![TransitionDesc {
///             when: vec!["speed > 0.1".parse()?],
///             fade_s: 0.5,
///             ..TransitionDesc::new(Origin::State("stand".into()), "go")
///         }],
///         ..LayerDesc::new("body", "stand")
///     }],
/// };
/// let machine = StateMachine::of(&desc, &character)?;
/// let speed = machine.parameter("speed")?;
///
/// // An `Animator` runs the state machine of a character. Without poses, one instance:
/// let mut hero = machine.start(0.0);
/// let mut log = StateMachineLog::new();
/// machine.set_float(&mut hero, speed, 1.5)?;
/// machine.update(0.25, &mut hero, &mut log)?;
/// let entered = log.events().last().map(|event| machine.state_name(event.layer, event.state));
/// assert_eq!(entered, Some("go"));
/// assert_eq!(machine.status(&hero, 0, 0.25)?.weight, 0.5); // in the middle of its fade
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct StateMachine {
    pub(crate) fingerprint: u64,
    pub(super) parameters: Vec<Parameter>,
    pub(crate) masks: Vec<Mask>,
    pub(super) layers: Vec<Layer>,
}

impl StateMachine {
    /// Validates `desc` against a skeleton and a list of clips.
    ///
    /// Masks apply to the skeleton's joints. Clips are found by name; if several have the same
    /// name, the first is used. The samples of [`Self::play`] hold indices into `clips`. Blend
    /// spaces belong to a character, so a motion that names one needs [`Self::of`].
    ///
    /// # Errors
    /// [`Error::StateMachine`] with the part of the state machine, its field and the fault.
    pub fn new(
        desc: &StateMachineDesc,
        skeleton: &Skeleton,
        clips: &[StateMachineClip<'_>],
    ) -> Result<Self> {
        Self::with_spaces(desc, skeleton, clips, &[])
    }

    /// [`Self::new`] with blend spaces, whose clips are indices into `clips`.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub(crate) fn with_spaces(
        desc: &StateMachineDesc,
        skeleton: &Skeleton,
        clips: &[StateMachineClip<'_>],
        spaces: &[BlendSpace],
    ) -> Result<Self> {
        let built = super::build::build(desc, skeleton, clips, spaces);
        built.map_err(|fault| fault.named(desc).into_state_machine_error())
    }

    /// The masks that samples refer to.
    #[must_use]
    pub fn masks(&self) -> &[Mask] {
        &self.masks
    }

    /// The number of layers.
    #[must_use]
    pub fn layer_count(&self) -> usize {
        self.layers.len()
    }

    /// The index of the layer with this name, from 0.
    ///
    /// # Errors
    /// [`Error::UnknownName`] with the names that exist.
    pub fn layer(&self, name: &str) -> Result<u8> {
        let names = || self.layers.iter().map(|layer| &*layer.name);
        let found = names().position(|other| other == name);
        // The cast cannot fail: there are at most `MAX_LAYERS` layers.
        let found = found.and_then(|index| u8::try_from(index).ok());
        found.ok_or_else(|| unknown("layer", name, names()))
    }

    /// The state of `layer` with this name.
    ///
    /// # Errors
    /// - [`Error::NotFound`] if the layer does not exist.
    /// - [`Error::UnknownName`] with the names that exist.
    pub fn state(&self, layer: u8, name: &str) -> Result<StateId> {
        let states = &self.layer_at(layer)?.states;
        find(states.iter().map(|state| &*state.name), name)
    }

    /// The name of a state; empty if the state does not exist.
    #[must_use]
    pub fn state_name(&self, layer: u8, state: StateId) -> &str {
        let state = self.state_at(layer, state);
        state.map_or("", |state| &state.name)
    }

    /// The tag of a state, if it has one.
    #[must_use]
    pub fn state_tag(&self, layer: u8, state: StateId) -> Option<&str> {
        self.state_at(layer, state)?.tag.as_deref()
    }

    pub(super) fn state_at(&self, layer: u8, state: StateId) -> Option<&State> {
        let layer = self.layers.get(usize::from(layer))?;
        layer.states.get(state.index())
    }

    pub(super) fn layer_at(&self, index: u8) -> Result<&Layer> {
        self.layers.get(usize::from(index)).ok_or(Error::NotFound {
            what: "layer",
            index: index.into(),
            count: self.layers.len() as u64,
        })
    }
}
