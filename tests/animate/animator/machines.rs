//! Damped parameters of state machines.

use super::world::{made_machine, world};
use crate::reference::rng::Rng;
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
    animator.actor_mut(id).unwrap().set_float(x, 0.0).unwrap();
    animator
        .actor_mut(id)
        .unwrap()
        .set_float_over(x, 2.0, 1.0)
        .unwrap();
    let mut last = 0.0;
    for frame in 1..=40 {
        animator.update(0.05 * f64::from(frame)).unwrap();
        let Value::Float(value) = animator.actor(id).unwrap().parameter(x).unwrap() else {
            panic!("a float");
        };
        let step = value - last;
        assert!((0.0..=0.1001).contains(&step), "{frame}: {step}");
        last = value;
    }
    assert_eq!(last, 2.0);
    let error = animator
        .actor_mut(id)
        .and_then(|mut it| it.set_float_over(x, f32::NAN, 1.0))
        .unwrap_err();
    assert!(error.to_string().contains("NaN"), "{error}");
    assert_eq!(
        animator.actor(id).unwrap().parameter(x).unwrap(),
        Value::Float(2.0)
    );
}
