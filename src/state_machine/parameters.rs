//! Access to parameters: found by name once, then set by handle.

use super::desc::{ParameterDesc, ParameterKind};
use super::machine::StateMachine;
use super::state::{StateMachineInstance, Value};
use crate::error::{Error, Result, expect_finite, expect_index};
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
    /// - [`Error::Argument`] if the value is not finite, the parameter is of another kind, or the
    ///   instance belongs to another state machine.
    /// - [`Error::NotFound`] if the parameter belongs to another state machine.
    pub(crate) fn set(
        &self,
        state: &mut StateMachineInstance,
        id: Id<ParameterDesc>,
        value: Value,
    ) -> Result<()> {
        if let Value::Float(value) = value {
            expect_finite("float parameter", value)?;
        }
        self.check(state)?;
        let (index, count) = (id.index(), self.parameters.len());
        expect_index("parameter", index, count)?;
        let kind = self.parameters[index].kind;
        let value = match (kind, value) {
            (ParameterKind::Float { min, max, .. }, Value::Float(value)) => {
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
                let why = "is the kind of the parameter, which cannot be set as another kind";
                return Err(Error::invalid(kind.name(), why));
            }
        };
        // The instance was checked, so it has as many values as there are parameters.
        let own = &mut state.values[index];
        state.changed |= *own != value;
        *own = value;
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
        expect_index("parameter", id.index(), self.parameters.len())?;
        Ok(state.values[id.index()])
    }
}
