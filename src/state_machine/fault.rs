//! Faults in a state machine and their locations, and checks of names.

use super::condition::is_parameter_name;
use super::desc::StateMachineDesc;
use crate::error::{DescError, DescFault, DescPart, Error, Result, cut};
use crate::text::bad_name;

/// The location of a part, as indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum At {
    #[default]
    Whole,
    Parameter(usize),
    Mask(usize),
    Layer(usize),
    State(usize, usize),
    Transition(usize, usize),
}

/// A fault whose part is still an index, not a name.
pub(crate) type Fault = crate::text::Fault<At>;

impl Fault {
    /// Resolves the index of the part to its name.
    pub(crate) fn named(self, desc: &StateMachineDesc) -> DescError {
        DescError {
            file: Box::default(),
            line: None,
            part: part(desc, self.at),
            field: self.field.into(),
            why: self.why,
        }
    }
}

/// The fault of a field whose value another check refused.
pub(super) fn refused(at: At, field: &str, why: Error) -> Fault {
    Fault::new(at, field, DescFault::Refused(Box::new(why)))
}

fn part(desc: &StateMachineDesc, at: At) -> DescPart {
    let layer_name = |layer: usize| desc.layers.get(layer).map_or("", |layer| &layer.name);
    match at {
        At::Whole => DescPart::StateMachine,
        At::Parameter(index) => DescPart::Parameter {
            index,
            name: cut(desc.parameters.get(index).map_or("", |found| &found.name)),
        },
        At::Mask(index) => DescPart::Mask {
            index,
            name: cut(desc.masks.get(index).map_or("", |found| &found.name)),
        },
        At::Layer(index) => DescPart::Layer {
            index,
            name: cut(layer_name(index)),
        },
        At::State(layer, index) => {
            let state = desc.layers.get(layer).and_then(|l| l.states.get(index));
            DescPart::State {
                layer: cut(layer_name(layer)),
                index,
                name: cut(state.map_or("", |state| &state.name)),
            }
        }
        At::Transition(layer, index) => {
            let layers = desc.layers.get(layer);
            let found = layers.and_then(|layer| layer.transitions.get(index));
            DescPart::Transition {
                layer: cut(layer_name(layer)),
                index,
                from: cut(found.map_or("", |found| found.from.name())),
                to: cut(found.map_or("", |found| &found.to)),
            }
        }
    }
}

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
