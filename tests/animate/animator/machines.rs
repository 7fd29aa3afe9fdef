//! Parameters of state machines.

use super::world::{made_machine, world};
use crate::reference::handles::Handles;
use crate::reference::rng::Rng;
use crate::reference::words::Fails;
use throng::Id;
use throng::animator::{AnimationEventKind, Animator, Play};
use throng::state_machine::Value;

/// A float parameter that moves is within half a step of 1/128 s of its line, and arrives.
#[test]
fn a_parameter_that_moves_arrives() {
    let world = world();
    let mut animator = world.driven(made_machine(&mut Rng::new(3)));
    let machine = animator.state_machine().unwrap().clone();
    let id = animator.add_with_state_machine().unwrap();
    let x = machine.parameter("x").unwrap();
    animator.update(0.0).unwrap();
    animator.live_mut(id).set_parameter(x, 0.0).unwrap();
    animator
        .live_mut(id)
        .set_parameter_over(x, 2.0, 1.0)
        .unwrap();
    let mut last = f32::NAN;
    for frame in 1..=40 {
        animator.update(0.05 * f64::from(frame)).unwrap();
        let Value::Float(value) = animator.live(id).parameter(x).unwrap() else {
            panic!("a float");
        };
        let line = (0.1 * frame as f32).min(2.0);
        // It moves by 2 in a second. Rounding: 1e-6.
        assert!(
            (value - line).abs() <= 1.0 / 128.0 + 1e-6,
            "{frame}: {value}"
        );
        last = value;
    }
    assert_eq!(last, 2.0);
    animator
        .on(id, |mut it| it.set_parameter_over(x, f32::NAN, 1.0))
        .fails("…NaN…");
    assert_eq!(animator.live(id).parameter(x).unwrap(), Value::Float(2.0));
}

/// Parameters and positions that move: what plays and which states are entered does not depend on
/// the times of updates, to the bit.
#[test]
fn what_moves_does_not_depend_on_updates() {
    let mut entered = 0;
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let mut animator = world().driven(made_machine(&mut rng));
        let driven = animator.add_with_state_machine().unwrap();
        let blended = animator.add(Play::blend_space("line").at(0.4)).unwrap();
        let mut both = [animator.clone(), animator];
        let mut now_s = 0.0;
        for turn in 0..10 {
            let (to, over_s) = (rng.range(-1.0, 3.0), rng.range(0.0, 3.0));
            for animator in &mut both {
                let mut it = animator.live_mut(driven);
                it.set_parameter_over("x", to, over_s).unwrap();
                let mut it = animator.live_mut(blended);
                it.set_blend_position(0, to, over_s).unwrap();
            }
            let span_s = f64::from(rng.range(0.0, 4.0));
            let mut times_s: Vec<_> = (0..30)
                .map(|_| now_s + span_s * f64::from(rng.range(0.0, 1.0)))
                .collect();
            times_s.sort_by(f64::total_cmp);
            now_s += span_s;
            times_s.push(now_s);
            let states = |animator: &mut Animator, times_s: &[f64]| {
                let mut states = Vec::new();
                for time_s in times_s {
                    animator.update(*time_s).unwrap();
                    let events = animator.events().iter();
                    let of_states = events
                        .filter(|event| matches!(event.kind, AnimationEventKind::Entered { .. }));
                    states.extend(of_states.map(|event| (event.time_s, event.layer, event.kind)));
                }
                states
            };
            let [whole, parts] = &mut both;
            let found = states(whole, &times_s[times_s.len() - 1..]);
            assert_eq!(found, states(parts, &times_s), "seed {seed}, turn {turn}");
            entered += found.len();
            for id in [driven, blended] {
                let [whole, parts] = both.each_ref().map(|it| it.live(id).records().to_vec());
                assert_eq!(whole, parts, "seed {seed}, turn {turn}");
            }
        }
    }
    assert!(entered > 100, "{entered}");
}

/// A parameter is selected by its name or its id, and an unknown one changes nothing.
#[test]
fn parameters_have_names_and_ids() {
    let mut animator = world().driven(made_machine(&mut Rng::new(3)));
    let machine = animator.state_machine().unwrap().clone();
    let id = animator.add_with_state_machine().unwrap();
    let mut actor = animator.live_mut(id);
    let parameters = &machine.desc().parameters;
    for (index, by_name) in [0.25_f32, 0.5].into_iter().enumerate() {
        let (by_id, name) = (Id::new(index as u16), &*parameters[index].name);
        actor.set_parameter(name, by_name).unwrap();
        assert_eq!(actor.parameter(by_id).unwrap(), Value::Float(by_name));
        actor.set_parameter(by_id, by_name + 1.0).unwrap();
        assert_eq!(actor.parameter(name).unwrap(), Value::Float(by_name + 1.0));
    }
    let before = actor.parameter("x").unwrap();
    for said in [
        actor.set_parameter("X", 1.0),
        actor.set_parameter_over("X", 1.0, 1.0),
        actor.set_parameter("X", true),
        actor.parameter("X").map(|_| ()),
    ] {
        said.fails("parameter \"X\" does not exist: there are x, …");
    }
    let beyond = Id::new(parameters.len() as u16);
    actor
        .set_parameter(beyond, true)
        .fails("… does not exist: there are …");
    assert_eq!(actor.parameter("x").unwrap(), before);
}
