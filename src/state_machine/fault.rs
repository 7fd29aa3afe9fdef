//! A fault in a state machine and its location.

use super::desc::StateMachineDesc;
use crate::error::{DescError, DescPart, cut};

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
