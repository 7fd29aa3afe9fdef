//! Access to parameters: found by name once, then set by handle.

use super::desc::{ParameterDesc, ParameterKind};
use super::machine::StateMachine;
use super::state::{StateMachineInstance, Value};
use crate::error::{Error, Result};
use crate::id::{Id, find};

impl StateMachine {
    /// The parameter with this name.
    ///
    /// # Errors
    /// [`Error::UnknownName`] with the names that exist.
    pub fn parameter(&self, name: &str) -> Result<Id<ParameterDesc>> {
        let names = self.parameters.iter().map(|parameter| &*parameter.name);
        find("parameter", names, name)
    }

    /// Sets a float, clamped to its range.
    ///
    /// The change takes effect at the time up to which the instance has been updated.
    ///
    /// # Errors
    /// - [`Error::Argument`] if the value is not finite, the parameter is not a float, or the
    ///   instance belongs to another state machine.
    /// - [`Error::NotFound`] if the parameter belongs to another state machine.
    pub(crate) fn set_float(
        &self,
        state: &mut StateMachineInstance,
        id: Id<ParameterDesc>,
        value: f32,
    ) -> Result<()> {
        if !value.is_finite() {
            return Err(Error::not_finite("float parameter", value));
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
    /// - [`Error::Argument`] if the parameter is not an int, or the instance belongs to another
    ///   state machine.
    /// - [`Error::NotFound`] if the parameter belongs to another state machine.
    pub(crate) fn set_int(
        &self,
        state: &mut StateMachineInstance,
        id: Id<ParameterDesc>,
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
    /// - [`Error::Argument`] if the parameter is not a bool, or the instance belongs to another
    ///   state machine.
    /// - [`Error::NotFound`] if the parameter belongs to another state machine.
    pub(crate) fn set_bool(
        &self,
        state: &mut StateMachineInstance,
        id: Id<ParameterDesc>,
        value: bool,
    ) -> Result<()> {
        self.set(state, id, |kind| match kind {
            ParameterKind::Bool { .. } => Some(Value::Bool(value)),
            _ => None,
        })
    }

    /// Sets a trigger.
    ///
    /// It stays set until a transition consumes it or [`Self::reset_trigger`] is called.
    ///
    /// # Errors
    /// - [`Error::Argument`] if the parameter is not a trigger, or the instance belongs to another
    ///   state machine.
    /// - [`Error::NotFound`] if the parameter belongs to another state machine.
    pub(crate) fn set_trigger(
        &self,
        state: &mut StateMachineInstance,
        id: Id<ParameterDesc>,
    ) -> Result<()> {
        self.set(state, id, trigger(true))
    }

    /// Resets a trigger.
    ///
    /// # Errors
    /// - [`Error::Argument`] if the parameter is not a trigger, or the instance belongs to another
    ///   state machine.
    /// - [`Error::NotFound`] if the parameter belongs to another state machine.
    pub(crate) fn reset_trigger(
        &self,
        state: &mut StateMachineInstance,
        id: Id<ParameterDesc>,
    ) -> Result<()> {
        self.set(state, id, trigger(false))
    }

    /// The value of a parameter.
    ///
    /// # Errors
    /// - [`Error::NotFound`] if the parameter belongs to another state machine.
    /// - [`Error::Argument`] if the instance belongs to another state machine.
    pub(crate) fn value(
        &self,
        state: &StateMachineInstance,
        id: Id<ParameterDesc>,
    ) -> Result<Value> {
        self.check(state)?;
        let value = state.values.get(usize::from(id.0)).copied();
        value.ok_or_else(|| self.no_parameter(id))
    }

    fn no_parameter(&self, id: Id<ParameterDesc>) -> Error {
        Error::not_found("parameter", id.index(), self.parameters.len())
    }

    fn set(
        &self,
        state: &mut StateMachineInstance,
        id: Id<ParameterDesc>,
        value: impl FnOnce(ParameterKind) -> Option<Value>,
    ) -> Result<()> {
        self.check(state)?;
        let index = usize::from(id.0);
        let (Some(parameter), Some(place)) =
            (self.parameters.get(index), state.values.get_mut(index))
        else {
            return Err(self.no_parameter(id));
        };
        let value = value(parameter.kind).ok_or(Error::invalid(
            parameter.kind.name(),
            "is the kind of the parameter, which cannot be set as another kind",
        ))?;
        state.changed |= *place != value;
        *place = value;
        Ok(())
    }
}

fn trigger(set: bool) -> impl Fn(ParameterKind) -> Option<Value> {
    move |kind| (kind == ParameterKind::Trigger).then_some(Value::Trigger(set))
}
