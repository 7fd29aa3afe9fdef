//! Parameters: found by name once, then set by handle.

use super::desc::ParameterKind;
use super::machine::StateMachine;
use super::state::{StateMachineInstance, Value};
use crate::error::{ArgumentFault, Error, Result};
use crate::ids::{ParameterId, find};

impl StateMachine {
    /// The parameter of this name.
    ///
    /// # Errors
    /// [`Error::UnknownName`] with the names that there are.
    pub fn parameter(&self, name: &str) -> Result<ParameterId> {
        let names = self.parameters.iter().map(|parameter| &*parameter.name);
        find(names, name)
    }

    /// Sets a float, clamped to its range; it counts from the time up to which the state has been
    /// updated.
    ///
    /// # Errors
    /// [`Error::Argument`] for a value that is not finite, and for a parameter that is not a float;
    /// [`Error::NotFound`] for one of another machine.
    pub fn set_float(
        &self,
        state: &mut StateMachineInstance,
        id: ParameterId,
        value: f32,
    ) -> Result<()> {
        if !value.is_finite() {
            return Err(Error::Argument {
                what: "float parameter",
                why: ArgumentFault::NotFinite(value.into()),
            });
        }
        self.set(state, id, |kind| match kind {
            ParameterKind::Float { min, max, .. } => Some(Value::Float(
                value
                    .max(min.unwrap_or(f32::MIN))
                    .min(max.unwrap_or(f32::MAX)),
            )),
            _ => None,
        })
    }

    /// Sets an int, clamped to its range, as [`Self::set_float`] does.
    ///
    /// # Errors
    /// As there.
    pub fn set_int(
        &self,
        state: &mut StateMachineInstance,
        id: ParameterId,
        value: i32,
    ) -> Result<()> {
        self.set(state, id, |kind| match kind {
            ParameterKind::Int { min, max, .. } => Some(Value::Int(
                value
                    .max(min.unwrap_or(i32::MIN))
                    .min(max.unwrap_or(i32::MAX)),
            )),
            _ => None,
        })
    }

    /// Sets a bool, as [`Self::set_float`] does.
    ///
    /// # Errors
    /// As there.
    pub fn set_bool(
        &self,
        state: &mut StateMachineInstance,
        id: ParameterId,
        value: bool,
    ) -> Result<()> {
        self.set(state, id, |kind| match kind {
            ParameterKind::Bool { .. } => Some(Value::Bool(value)),
            _ => None,
        })
    }

    /// Sets a trigger. It stays set until a transition takes it back, or [`Self::reset_trigger`].
    ///
    /// # Errors
    /// As [`Self::set_float`].
    pub fn set_trigger(&self, state: &mut StateMachineInstance, id: ParameterId) -> Result<()> {
        self.set(state, id, trigger(true))
    }

    /// Takes a trigger back.
    ///
    /// # Errors
    /// As [`Self::set_float`].
    pub fn reset_trigger(&self, state: &mut StateMachineInstance, id: ParameterId) -> Result<()> {
        self.set(state, id, trigger(false))
    }

    /// The value of a parameter.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a parameter of another machine, [`Error::Argument`] for such a
    /// state.
    pub fn value(&self, state: &StateMachineInstance, id: ParameterId) -> Result<Value> {
        self.check(state)?;
        let value = state.values.get(usize::from(id.0)).copied();
        value.ok_or_else(|| self.no_parameter(id))
    }

    fn no_parameter(&self, id: ParameterId) -> Error {
        Error::NotFound {
            what: "parameter",
            index: id.0.into(),
            count: self.parameters.len() as u64,
        }
    }

    fn set(
        &self,
        state: &mut StateMachineInstance,
        id: ParameterId,
        value: impl FnOnce(ParameterKind) -> Option<Value>,
    ) -> Result<()> {
        self.check(state)?;
        let index = usize::from(id.0);
        let (Some(parameter), Some(place)) =
            (self.parameters.get(index), state.values.get_mut(index))
        else {
            return Err(self.no_parameter(id));
        };
        let value = value(parameter.kind).ok_or(Error::Argument {
            what: parameter.kind.name(),
            why: ArgumentFault::Invalid("the parameter is of this kind, and was set as another"),
        })?;
        state.changed |= *place != value;
        *place = value;
        Ok(())
    }
}

fn trigger(set: bool) -> impl Fn(ParameterKind) -> Option<Value> {
    move |kind| (kind == ParameterKind::Trigger).then_some(Value::Trigger(set))
}
