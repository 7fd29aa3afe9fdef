//! Damped parameters of state machines.

use super::world::{made_machine, world};
use crate::reference::handles::Handles;
use crate::reference::rng::Rng;
use crate::reference::words::Fails;
use throng::Id;
use throng::state_machine::Value;

/// A damped float parameter moves once per update, and reaches its value.
#[test]
fn a_damped_parameter_arrives() {
    let world = world();
    let mut animator = world.driven(made_machine(&mut Rng::new(3)));
    let machine = animator.state_machine().unwrap().clone();
    let id = animator.add_driven().unwrap();
    let x = machine.parameter("x").unwrap();
    animator.update(0.0).unwrap();
    animator.live_mut(id).set_float(x, 0.0).unwrap();
    animator.live_mut(id).set_float_over(x, 2.0, 1.0).unwrap();
    let mut last = 0.0;
    for frame in 1..=40 {
        animator.update(0.05 * f64::from(frame)).unwrap();
        let Value::Float(value) = animator.live(id).parameter(x).unwrap() else {
            panic!("a float");
        };
        let step = value - last;
        assert!((0.0..=0.1001).contains(&step), "{frame}: {step}");
        last = value;
    }
    assert_eq!(last, 2.0);
    animator
        .on(id, |mut it| it.set_float_over(x, f32::NAN, 1.0))
        .fails("…NaN…");
    assert_eq!(animator.live(id).parameter(x).unwrap(), Value::Float(2.0));
}

/// A parameter is selected by its name or its id, and an unknown one changes nothing.
#[test]
fn parameters_have_names_and_ids() {
    let mut animator = world().driven(made_machine(&mut Rng::new(3)));
    let machine = animator.state_machine().unwrap().clone();
    let id = animator.add_driven().unwrap();
    let mut actor = animator.live_mut(id);
    for (by_name, (by_id, name, _)) in [0.25_f32, 0.5].into_iter().zip(machine.parameters()) {
        actor.set_float(name, by_name).unwrap();
        assert_eq!(actor.parameter(by_id).unwrap(), Value::Float(by_name));
        actor.set_float(by_id, by_name + 1.0).unwrap();
        assert_eq!(actor.parameter(name).unwrap(), Value::Float(by_name + 1.0));
    }
    let before = actor.parameter("x").unwrap();
    for said in [
        actor.set_float("X", 1.0),
        actor.set_float_over("X", 1.0, 1.0),
        actor.set_trigger("X"),
        actor.parameter("X").map(|_| ()),
    ] {
        said.fails("parameter \"X\" does not exist: there are x, …");
    }
    let beyond = Id::new(machine.parameters().len() as u16);
    actor
        .set_bool(beyond, true)
        .fails("… does not exist: there are …");
    assert_eq!(actor.parameter("x").unwrap(), before);
}
