//! The lists of a state machine's parts, as tools use them.

use super::text::{HERO, character};
use throng::state_machine::{Origin, StateMachine, StateMachineDesc};

/// The lists have everything that the description has, in its order, and ids that work.
#[test]
fn lists_the_description_in_its_order() {
    let desc = StateMachineDesc::from_toml("hero.toml", HERO).unwrap();
    let machine = StateMachine::of(&desc, character()).unwrap();
    assert_eq!(machine.parameters().len(), desc.parameters.len());
    for ((id, name, kind), parameter) in machine.parameters().zip(&desc.parameters) {
        assert_eq!((name, kind), (&*parameter.name, parameter.kind));
        assert_eq!(machine.parameter(name).unwrap(), id);
    }
    assert_eq!(machine.layer_count(), desc.layers.len());
    for (number, layer) in desc.layers.iter().enumerate() {
        let number = number as u8;
        assert_eq!(machine.layer_name(number), layer.name);
        let names: Vec<&str> = layer.states.iter().map(|state| &*state.name).collect();
        let listed: Vec<&str> = machine.states(number).map(|(_, name)| name).collect();
        assert_eq!(listed, names);
        for (id, name) in machine.states(number) {
            assert_eq!(machine.state(number, name).unwrap(), id);
        }
        let name = |state| machine.state_name(number, state).to_owned();
        let listed: Vec<_> = machine
            .transitions(number)
            .map(|(from, to)| (from.map(name), name(to)))
            .collect();
        let described = layer.transitions.iter().map(|transition| {
            let from = match &transition.from {
                Origin::State(from) => Some(from.clone()),
                _ => None,
            };
            (from, transition.to.clone())
        });
        assert_eq!(listed, described.collect::<Vec<_>>());
    }
}

#[test]
fn a_layer_that_does_not_exist_has_nothing() {
    let machine = StateMachine::from_toml("hero.toml", HERO, character()).unwrap();
    assert_eq!(machine.layer_name(200), "");
    assert_eq!(machine.states(200).count(), 0);
    assert_eq!(machine.transitions(200).count(), 0);
}
