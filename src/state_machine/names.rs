//! Checks names: which are valid, and that each is unique in its list.

use super::condition::is_parameter_name;
use super::desc::StateMachineDesc;
use super::fault::{At, Fault};
use crate::text::bad_name;

/// Checks all names of parameters, masks, layers and states.
pub(super) fn check_names(desc: &StateMachineDesc) -> Result<(), Fault> {
    crate::text::check_names(
        desc.parameters.iter().map(|p| p.name.as_str()),
        At::Parameter,
    )?;
    for (index, parameter) in desc.parameters.iter().enumerate() {
        if !is_parameter_name(&parameter.name) {
            let why = "a parameter's name must not have white space or any of <>=!()\" in it";
            return Err(bad_name(At::Parameter(index), &parameter.name, why));
        }
    }
    crate::text::check_names(desc.masks.iter().map(|mask| mask.name.as_str()), At::Mask)?;
    crate::text::check_names(
        desc.layers.iter().map(|layer| layer.name.as_str()),
        At::Layer,
    )?;
    for (layer, found) in desc.layers.iter().enumerate() {
        let names = found.states.iter().map(|state| state.name.as_str());
        crate::text::check_names(names.clone(), |index| At::State(layer, index))?;
        if let Some(index) = names.clone().position(|name| name.starts_with('(')) {
            let why = "a state's name must not start with `(`";
            return Err(bad_name(
                At::State(layer, index),
                &found.states[index].name,
                why,
            ));
        }
    }
    Ok(())
}
