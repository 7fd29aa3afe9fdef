//! State machines of actors, compared with state machines on their own.

use super::exact_events::{Happened, What};
use super::world::{World, made_machine, world};
use crate::reference::rng::Rng;
use crate::state_machine::made;
use crate::state_machine::made::{FLOATS, Input};
use std::collections::BTreeMap;
use throng::animator::{ActorId, AnimationEventKind, Animator};
use throng::motion::{ClipSample, SampleList};
use throng::state_machine::{StateMachine, StateMachineInstance, StateMachineLog, Value};
use throng::{Error, Id};

/// The tolerance of weights between a record and a sample.
///
/// The duration of a record's fade is an `f32`, by which a weight of up to 2 changes by a relative
/// 1.5 · 6e-8. Both weights are rounded.
const WEIGHT: f32 = 5e-7;

fn apply(animator: &mut Animator, id: ActorId, input: Input) {
    let mut actor = animator.actor_mut(id).unwrap();
    match input {
        Input::Float(name, value) => actor.set_float(name, value),
        Input::Count(value) => actor.set_int("count", value),
        Input::Flag(value) => actor.set_bool("flag", value),
        Input::Trigger(name) => actor.set_trigger(name),
    }
    .unwrap();
}

fn samples(machine: &StateMachine, state: &StateMachineInstance, time_s: f64) -> Vec<ClipSample> {
    let mut list = SampleList::new();
    machine.play(time_s, state, &mut list).unwrap();
    list.samples(0)
        .iter()
        .filter(|sample| sample.weight > WEIGHT)
        .copied()
        .collect()
}

/// Checks that the records always match what the machine plays.
fn same_records(
    animator: &Animator,
    id: ActorId,
    (machine, state): (&StateMachine, &StateMachineInstance),
    time_s: f64,
    note: &str,
) {
    let want = samples(machine, state, time_s);
    let actor = animator.actor(id).unwrap();
    let records = actor.records().iter();
    let got: Vec<_> = records
        .filter(|record| record.weight_at(time_s) > 2.0 * WEIGHT)
        .collect();
    let heavy = want
        .iter()
        .filter(|sample| sample.weight > 3.0 * WEIGHT)
        .count();
    assert!(
        got.len() >= heavy && got.len() <= want.len(),
        "{note}\n{got:?}\n{want:?}"
    );
    if got.len() != want.len() {
        return;
    }
    for (got, want) in got.iter().zip(&want) {
        let place = (Id::new(got.clip), got.layer);
        assert_eq!(place, (want.clip, want.level), "{note}");
        let off = (got.weight_at(time_s) - want.weight).abs();
        assert!(off <= WEIGHT, "{note}: {got:?} {want:?}");
        let duration_s = world().duration_s(got.clip);
        let off = (got.clip_time_s(time_s, duration_s) - want.time_s).abs();
        // Modulo the cycle: at the seam, the last bit decides which end is reported.
        assert!(
            off.min((duration_s - off).abs()) <= 1e-10,
            "{note}: {got:?} {want:?}"
        );
    }
}

fn same_states(animator: &Animator, log: &StateMachineLog, note: &str) -> usize {
    let events = animator.events().iter().map(Happened::from);
    let mut got: Vec<_> = events
        .filter(|event| matches!(event.what, What::Left(_) | What::Entered(_)))
        .collect();
    let mut want: Vec<_> = log.events().iter().collect();
    // Each layer on its own is in order.
    got.sort_by_key(|event| event.layer);
    want.sort_by_key(|event| event.layer);
    assert_eq!(got.len(), want.len(), "{note}");
    for (got, want) in got.iter().zip(&want) {
        let what = if want.entered {
            What::Entered(want.state.index())
        } else {
            What::Left(want.state.index())
        };
        assert_eq!((got.layer, got.what), (want.layer, what), "{note}");
        assert!((got.time_s - want.time_s).abs() <= 1e-12, "{note}");
    }
    got.len()
}

/// How often each event of each clip was passed, by the index of the clip and the event's name.
type Counts = BTreeMap<(usize, String), usize>;

/// Counts the events that the cycles of a log pass.
fn count(world: &World, log: &StateMachineLog, counts: &mut Counts) {
    for pass in log.passes() {
        let clip = pass.clip.index();
        let events = &world.events[clip];
        let hits = if pass.starts {
            events.passed_from_start(pass.from_s, pass.to_s, pass.loop_mode)
        } else {
            events.passed(pass.from_s, pass.to_s, pass.loop_mode)
        };
        for hit in hits {
            let name = events.names().nth(hit.name_id as usize).unwrap();
            *counts.entry((clip, name.into())).or_default() += 1;
        }
    }
}

/// Updates visit actors only if something happens, but the result is as if each frame were visited.
#[test]
fn driven_actors_do_what_their_machine_does() {
    let world = world();
    let (mut states, mut hits) = (0, 0);
    for seed in 0..250 {
        let mut rng = Rng::new(seed);
        let mut animator = world.driven(made_machine(&mut rng));
        let machine = animator.state_machine().unwrap().clone();
        let mut now_s = f64::from(rng.range(-10.0, 10.0));
        animator.update(now_s).unwrap();
        let id = animator.add_driven().unwrap();
        let mut state = machine.start(now_s);
        let mut log = StateMachineLog::new();
        let (mut got, mut want) = (Counts::new(), Counts::new());
        for frame in 0..100 {
            let note = format!("seed {seed}, frame {frame}");
            while rng.chance(4) {
                let input = made::input(&mut rng);
                made::apply(&machine, &mut state, input);
                apply(&mut animator, id, input);
            }
            let most = if rng.chance(8) { 2.0 } else { 0.1 };
            now_s += f64::from(rng.range(0.0, most));
            machine.update(now_s, &mut state, &mut log).unwrap();
            animator.update(now_s).unwrap();
            states += same_states(&animator, &log, &note);
            count(world, &log, &mut want);
            for event in animator.events() {
                if let AnimationEventKind::Clip { clip, .. } = event.kind {
                    let name = animator.event_name(event).into();
                    *got.entry((clip.into(), name)).or_default() += 1;
                    hits += 1;
                }
            }
            for ahead_s in [0.0, f64::from(rng.range(-0.2, 0.5))] {
                same_records(&animator, id, (&machine, &state), now_s + ahead_s, &note);
            }
            for name in FLOATS {
                let parameter = machine.parameter(name).unwrap();
                let value = animator.actor(id).unwrap().parameter(parameter).unwrap();
                assert_eq!(value, machine.value(&state, parameter).unwrap());
            }
        }
        assert_eq!(got, want, "seed {seed}");
    }
    println!("{states} states left and entered, {hits} events");
    assert!(states > 3000 && hits > 3000);
}

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

/// A parameter is selected by its name or its id, and an unknown one changes nothing.
#[test]
fn parameters_have_names_and_ids() {
    let mut animator = world().driven(made_machine(&mut Rng::new(3)));
    let machine = animator.state_machine().unwrap().clone();
    let id = animator.add_driven().unwrap();
    let mut actor = animator.actor_mut(id).unwrap();
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
        let said = said.unwrap_err().to_string();
        assert!(
            said.starts_with("parameter \"X\" does not exist: there are x, "),
            "{said}"
        );
    }
    let beyond = Id::new(machine.parameters().len() as u16);
    assert!(matches!(
        actor.set_bool(beyond, true),
        Err(Error::NotFound { .. })
    ));
    assert_eq!(actor.parameter("x").unwrap(), before);
}
