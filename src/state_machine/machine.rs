//! The validated state machine, the limits of its size, and its parameters.

use super::desc::{ParameterDesc, ParameterKind, StateDesc, StateMachineDesc};
use super::instance::{MAX_FADING, MAX_TIME_S, StateMachineInstance, Value};
use super::model::{Layer, Parameter, State};
use crate::clip::{Clip, CurveClip};
use crate::error::{ArgumentFault, Error, Result, expect_finite};
use crate::id::{Id, find, unknown};
use crate::skeleton::Mask;
use glam::DVec3;
use std::sync::Arc;

/// The facts about a clip that a state machine needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct StateMachineClip<'c> {
    pub(crate) name: &'c str,
    /// Duration in seconds, from 0 to [`StateMachine::MAX_TIME_S`].
    pub(crate) duration_s: f64,
    /// `Some(true)` if the clip is additive. `None` if unknown: then it is accepted on any layer.
    pub(crate) additive: Option<bool>,
    /// The velocity over the ground at speed 1, in metres of character space per second. `None` if
    /// it is not known yet: then no clip lacks one.
    pub(crate) ground_velocity: Option<DVec3>,
}

impl<'c> From<&'c CurveClip> for StateMachineClip<'c> {
    fn from(clip: &'c CurveClip) -> Self {
        Self {
            name: clip.name(),
            duration_s: clip.duration_s().into(),
            additive: None,
            ground_velocity: None,
        }
    }
}

impl<'c> From<&'c Clip> for StateMachineClip<'c> {
    fn from(clip: &'c Clip) -> Self {
        Self {
            name: clip.name(),
            duration_s: clip.duration_s(),
            additive: Some(clip.is_additive()),
            ground_velocity: None,
        }
    }
}

/// A validated state machine: all names exist and all numbers are valid.
///
/// ```
/// use throng::animator::Animator;
/// use throng::character::AnimationDesc;
/// use throng::import::{ImportOptions, RawCharacter};
/// use throng::state_machine::{
///     LayerDesc, Origin, ParameterDesc, ParameterKind, StateDesc, StateMachineDesc,
///     TransitionDesc,
/// };
///
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
/// let animation = AnimationDesc { state_machine: Some(desc), ..AnimationDesc::default() };
/// let options = ImportOptions { animation: Some(animation), ..ImportOptions::default() };
/// let character = RawCharacter::mannequin().build(&options)?.character;
///
/// let mut animator = Animator::new(&character)?;
/// let hero = animator.add_with_state_machine()?;
/// animator.actor_mut(hero)?.set_parameter("speed", 1.5)?;
/// animator.update(0.25)?;
/// let status = animator.actor(hero)?.layer_status(0)?;
/// assert_eq!(animator.state_machine()?.state_name(0, status.state), "go");
/// assert_eq!(status.weight, 0.5); // in the middle of its fade
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct StateMachine {
    pub(super) desc: Arc<StateMachineDesc>,
    pub(crate) fingerprint: u64,
    pub(super) parameters: Vec<Parameter>,
    pub(crate) masks: Vec<Mask>,
    pub(super) layers: Vec<Layer>,
}

/// State machines are equal if they have the same names and behave alike, however their
/// descriptions say so.
impl PartialEq for StateMachine {
    fn eq(&self, other: &Self) -> bool {
        let Self {
            desc: _,
            fingerprint,
            parameters,
            masks,
            layers,
        } = self;
        (fingerprint, parameters, masks, layers)
            == (
                &other.fingerprint,
                &other.parameters,
                &other.masks,
                &other.layers,
            )
    }
}

impl StateMachine {
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
    pub const MAX_FADE_S: f32 = crate::motion::MAX_FADE_S;

    /// The largest absolute time, in seconds.
    ///
    /// 1e12 s is 30,000 years. There, one step of an `f64` is 0.1 ms.
    pub const MAX_TIME_S: f64 = MAX_TIME_S;

    /// The most states that can fade out at once on one layer.
    pub const MAX_FADING: usize = MAX_FADING;

    /// The description that it was made from.
    ///
    /// Its lists have the order of ids: a layer, an [`Id<StateDesc>`](Id) and an
    /// [`Id<ParameterDesc>`](Id) are indices into them, and so is
    /// [`LayerStatus::transition`](super::LayerStatus::transition).
    #[must_use]
    pub fn desc(&self) -> &StateMachineDesc {
        &self.desc
    }

    pub(crate) fn layer_count(&self) -> usize {
        self.layers.len()
    }

    /// The index of the layer with this name, from 0.
    ///
    /// # Errors
    /// [`Error::UnknownName`] with the names that exist.
    pub fn layer(&self, name: &str) -> Result<u8> {
        let names = || self.layers.iter().map(|layer| &*layer.name);
        let found = names().position(|other| other == name);
        // The cast cannot fail: there are at most `Self::MAX_LAYERS` layers.
        let found = found.and_then(|index| u8::try_from(index).ok());
        found.ok_or_else(|| unknown("layer", name, names()))
    }

    /// The name of a layer; empty if the layer does not exist.
    pub(crate) fn layer_name(&self, layer: u8) -> &str {
        let layer = self.layers.get(usize::from(layer));
        layer.map_or("", |layer| &layer.name)
    }

    /// The number of states of a layer; 0 if the layer does not exist.
    pub(crate) fn state_count(&self, layer: u8) -> usize {
        let layer = self.layers.get(usize::from(layer));
        layer.map_or(0, |layer| layer.states.len())
    }

    /// The state of `layer` with this name.
    ///
    /// # Errors
    /// - [`Error::NotFound`] if the layer does not exist.
    /// - [`Error::UnknownName`] with the names that exist.
    pub fn state(&self, layer: u8, name: &str) -> Result<Id<StateDesc>> {
        let states = &self.layer_at(layer)?.states;
        find("state", states.iter().map(|state| &*state.name), name)
    }

    /// The name of a state; empty if the state does not exist.
    #[must_use]
    pub fn state_name(&self, layer: u8, state: Id<StateDesc>) -> &str {
        let state = self.state_at(layer, state);
        state.map_or("", |state| &state.name)
    }

    pub(super) fn state_at(&self, layer: u8, state: Id<StateDesc>) -> Option<&State> {
        let layer = self.layers.get(usize::from(layer))?;
        layer.states.get(state.index())
    }

    pub(super) fn layer_at(&self, index: u8) -> Result<&Layer> {
        let missing = Error::not_found("layer", index.into(), self.layers.len());
        self.layers.get(usize::from(index)).ok_or(missing)
    }
}

impl StateMachine {
    /// The parameter with this name.
    ///
    /// # Errors
    /// [`Error::UnknownName`] with the names that exist.
    pub fn parameter(&self, name: &str) -> Result<Id<ParameterDesc>> {
        let names = self.parameters.iter().map(|parameter| &*parameter.name);
        find("parameter", names, name)
    }

    /// Sets a parameter. Numbers are clamped to its range.
    ///
    /// The change takes effect at the time up to which the instance has been updated. A trigger
    /// stays set until a transition consumes it.
    pub(crate) fn set(
        &self,
        state: &mut StateMachineInstance,
        id: Id<ParameterDesc>,
        value: Value,
    ) -> Result<()> {
        let before = self.value(state, id)?;
        let parameter = &self.parameters[id.index()];
        let value = fitted(parameter.kind, value)
            .map_err(|why| why.at_named("parameter", id, &parameter.name))?;
        state.changed |= before != value;
        state.values[id.index()] = value;
        Ok(())
    }

    /// The value of a parameter.
    pub(crate) fn value(
        &self,
        state: &StateMachineInstance,
        id: Id<ParameterDesc>,
    ) -> Result<Value> {
        self.check(state)?;
        let value = state.values.get(usize::from(id.0)).copied();
        value.ok_or_else(|| Error::not_found("parameter", id.index(), self.parameters.len()))
    }
}

/// The value in the range of a parameter of this kind.
fn fitted(kind: ParameterKind, value: Value) -> Result<Value> {
    Ok(match (kind, value) {
        (ParameterKind::Float { min, max, .. }, Value::Float(value)) => {
            expect_finite("value", value)?;
            let value = value.max(min.unwrap_or(f32::MIN));
            Value::Float(value.min(max.unwrap_or(f32::MAX)))
        }
        (ParameterKind::Int { min, max, .. }, Value::Int(value)) => {
            let value = value.max(min.unwrap_or(i32::MIN));
            Value::Int(value.min(max.unwrap_or(i32::MAX)))
        }
        (ParameterKind::Trigger, Value::Bool(set)) => Value::Trigger(set),
        (ParameterKind::Bool { .. }, Value::Bool(_))
        | (ParameterKind::Trigger, Value::Trigger(_)) => value,
        _ => {
            let got = match value {
                Value::Float(_) => "float",
                Value::Int(_) => "int",
                Value::Bool(_) => "bool",
                Value::Trigger(_) => "trigger",
            };
            let need = kind.name();
            return Err(Error::argument("value", ArgumentFault::Kind { got, need }));
        }
    })
}
