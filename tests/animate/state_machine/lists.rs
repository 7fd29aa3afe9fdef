//! The description of a state machine, as tools use it.

use super::text::{HERO, character, machine};
use throng::Id;
use throng::state_machine::StateMachineDesc;

/// A machine has the description that it was made from, and its names lead to ids in its order.
#[test]
fn lists_the_description_in_its_order() {
    let desc = StateMachineDesc::from_toml("hero.toml", HERO).unwrap();
    let machine = machine(character(), &desc);
    assert_eq!(*machine.desc(), desc);
    for (index, parameter) in (0..).zip(&desc.parameters) {
        assert_eq!(machine.parameter(&parameter.name).unwrap(), Id::new(index));
    }
    for (number, layer) in (0..).zip(&desc.layers) {
        assert_eq!(machine.layer(&layer.name).unwrap(), number);
        for (index, state) in (0..).zip(&layer.states) {
            let id = machine.state(number, &state.name).unwrap();
            assert_eq!(id, Id::new(index));
            assert_eq!(machine.state_name(number, id), state.name);
        }
    }
    assert_eq!(machine.state_name(200, Id::new(0)), "");
    assert!(machine.state(200, &desc.layers[0].states[0].name).is_err());
}
