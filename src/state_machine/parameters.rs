//! Access to parameters: found by name once, then set by handle.

use super::desc::{ParameterDesc, ParameterKind};
use super::machine::StateMachine;
use super::state::{StateMachineInstance, Value};
use crate::error::{ArgumentFault, Error, Result, expect_finite};
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

    /// Sets a parameter. Numbers are clamped to its range.
    ///
    /// The change takes effect at the time up to which the instance has been updated. A trigger
    /// stays set until a transition consumes it.
    ///
    /// # Errors
    /// - [`Error::At`] with the parameter, if the value is of another kind or not finite.
    /// - [`Error::NotFound`] if the parameter belongs to another state machine.
    /// - [`Error::Argument`] if the instance belongs to another state machine.
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
