//! Names: which can be one, that each is there once, and to what they refer.

use super::condition::is_parameter_name;
use super::desc::StateMachineDesc;
use super::fault::{At, Fault, StateMachineFault, cut};
use crate::character::listed;
use std::collections::HashMap;

/// The most bytes of a name.
const MAX_NAME: usize = 256;

/// All names of parameters, masks, layers and states.
pub(super) fn check_names(desc: &StateMachineDesc) -> Result<(), Fault> {
    check_list(
        desc.parameters.iter().map(|p| p.name.as_str()),
        At::Parameter,
    )?;
    for (index, parameter) in desc.parameters.iter().enumerate() {
        if !is_parameter_name(&parameter.name) {
            let why = "a parameter's has no white space and none of <>=!()\" in it";
            return Err(bad(At::Parameter(index), &parameter.name, why));
        }
    }
    check_list(desc.masks.iter().map(|mask| mask.name.as_str()), At::Mask)?;
    check_list(
        desc.layers.iter().map(|layer| layer.name.as_str()),
        At::Layer,
    )?;
    for (layer, found) in desc.layers.iter().enumerate() {
        let names = found.states.iter().map(|state| state.name.as_str());
        check_list(names.clone(), |index| At::State(layer, index))?;
        if let Some(index) = names.clone().position(|name| name.starts_with('(')) {
            let why = "a state's doesn't start with a bracket";
            return Err(bad(At::State(layer, index), &found.states[index].name, why));
        }
    }
    Ok(())
}

fn bad(at: At, name: &str, why: &'static str) -> Fault {
    let name = cut(name);
    Fault::new(at, "name", StateMachineFault::Name { name, why })
}

fn check_list<'d>(
    names: impl Iterator<Item = &'d str>,
    at: impl Fn(usize) -> At,
) -> Result<(), Fault> {
    let mut seen = HashMap::new();
    for (index, name) in names.enumerate() {
        let why = if name.is_empty() {
            Some("it is empty")
        } else if name.len() > MAX_NAME {
            Some("it has more than 256 bytes")
        } else if name.chars().any(char::is_control) {
            Some("it has control characters")
        } else {
            None
        };
        if let Some(why) = why {
            return Err(bad(at(index), name, why));
        }
        if let Some(of) = seen.insert(name, index) {
            return Err(Fault::new(
                at(index),
                "name",
                StateMachineFault::Duplicate { of },
            ));
        }
    }
    Ok(())
}

/// The index of what bears a name.
pub(super) fn find<'d, I: Iterator<Item = &'d str>>(
    at: At,
    field: &str,
    what: &'static str,
    name: &str,
    names: impl Fn() -> I,
) -> Result<u16, Fault> {
    let found = names().position(|other| other == name);
    let index = found.and_then(|index| u16::try_from(index).ok());
    index.ok_or_else(|| unknown(at, field, what, name, names))
}

pub(super) fn unknown<'d, I: Iterator<Item = &'d str>>(
    at: At,
    field: &str,
    what: &'static str,
    name: &str,
    names: impl Fn() -> I,
) -> Fault {
    let (name, known) = (cut(name), listed(names()));
    Fault::new(at, field, StateMachineFault::Unknown { what, name, known })
}
