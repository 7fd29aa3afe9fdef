//! The list of changed actors misses nothing: what is not in it has the records and the sphere that
//! it had, and every sphere is the one that a new animator computes.

use super::models::{add_solvers, equipped};
use super::orders::order;
use crate::reference::explore::{Operation, explore};
use crate::reference::handles::Handles;
use crate::reference::rng::Rng;
use std::collections::HashMap;
use throng::Id;
use throng::animator::{ActorId, Animator, Play, PlayRecord};
use throng::character::{AnimationDesc, Character};
use throng::import::RawCharacter;
use throng::mesh::Sphere;
use throng::state_machine::{StateMachineDesc, Value};

/// The mannequin with everything, and a state machine with an inertialised transition.
fn character() -> Character {
    let machine = include_str!("../../../examples/machine/hero.toml");
    let mut machine = StateMachineDesc::from_toml("hero.toml", machine).unwrap();
    let transitions = machine
        .layers
        .iter_mut()
        .flat_map(|layer| &mut layer.transitions);
    for (number, transition) in transitions.enumerate() {
        if number % 2 == 0 {
            (transition.fade_s, transition.inertial_s) = (0.0, 0.25);
        }
    }
    let desc = AnimationDesc {
        state_machine: Some(machine),
        ..AnimationDesc::default()
    };
    let load = |options: &_| Some(RawCharacter::mannequin().build(options).ok()?.character);
    equipped(3, load).unwrap().with_animation(&desc).unwrap()
}

type State = (Vec<PlayRecord>, Sphere);

fn state(animator: &Animator, id: ActorId) -> State {
    let actor = animator.live(id);
    let mut records = actor.records().to_vec();
    for record in &mut records {
        // Flags that note which events were delivered do not count.
        record.flags &= !(PlayRecord::FLAG_STARTED | PlayRecord::FLAG_FINISHED);
    }
    (records, actor.bounding_sphere())
}

fn new_animator(character: &Character) -> Animator {
    let mut animator = Animator::new(character).unwrap();
    add_solvers(&mut animator, character.skeleton(), &mut Rng::new(9));
    animator
}

/// Drives an actor: sets a random parameter of its state machine, or starts and stops it.
fn drive(animator: &mut Animator, id: ActorId, rng: &mut Rng) {
    let machine = animator.state_machine().unwrap();
    let parameter = Id::new(rng.below(machine.desc().parameters.len()) as u16);
    let mut actor = animator.live_mut(id);
    match actor.parameter(parameter) {
        Ok(Value::Float(_)) => actor
            .set_parameter_over(parameter, rng.range(0.0, 4.0), 0.3)
            .unwrap(),
        Ok(Value::Bool(on)) => actor.set_parameter(parameter, !on).unwrap(),
        Ok(Value::Int(value)) => actor.set_parameter(parameter, value + 1).unwrap(),
        Ok(_) => actor.set_parameter(parameter, true).unwrap(),
        Err(_) if rng.chance(3) => actor.start_state_machine().unwrap(),
        Err(_) => {}
    }
    if rng.chance(20) {
        actor.stop_state_machine(0.2).unwrap();
    }
}

#[test]
fn the_list_misses_nothing() {
    let character = character();
    let (listed, kept) = explore(5, 1500, |operations| run(&character, operations));
    // The list is short: most actors are not in it.
    assert!(
        listed > 1000 && kept > 5 * listed,
        "{listed} were listed, {kept} were not"
    );
}

/// Returns how many actors were listed, and how many were not.
fn run(character: &Character, operations: &[Operation]) -> (usize, usize) {
    let mut animator = new_animator(character);
    let mut known: HashMap<ActorId, State> = HashMap::new();
    let (mut saved, mut now_s, mut listed, mut kept) = (animator.snapshot(), 0.0, 0, 0);
    for operation in operations {
        let ids: Vec<_> = animator.actors().collect();
        let (what, mut rng) = operation.choose(&[
            (20, "add"),
            (10, "remove"),
            (1, "save"),
            (1, "restore"),
            (3, "restore one"),
            (10, "drive"),
            (75, "order"),
        ]);
        let rng = &mut rng;
        match what {
            "add" if ids.len() < 40 => {
                let id = if rng.chance(2) {
                    animator.add_with_state_machine().unwrap()
                } else {
                    animator.add(Play::new("Walk")).unwrap()
                };
                // Only some of the actors get commands, so that others stay.
                if !animator.live(id).has_state_machine() && rng.chance(2) {
                    order(&mut animator, id, character, rng);
                }
            }
            "remove" if ids.len() > 20 => animator.remove(ids[rng.below(ids.len())]).unwrap(),
            "save" => saved = animator.snapshot(),
            "restore" => {
                animator.restore(&saved).unwrap();
                now_s = animator.now_s();
            }
            _ if ids.is_empty() => {}
            "restore one" => {
                let from = animator.live(ids[rng.below(ids.len())]).snapshot();
                let to = ids[rng.below(ids.len())];
                animator.live_mut(to).restore(&from).unwrap();
            }
            "drive" => drive(&mut animator, ids[rng.below(ids.len())], rng),
            _ => {
                let id = ids[rng.below(ids.len())];
                // A layer of the state machine cannot be given a command.
                if !animator.live(id).has_state_machine() {
                    order(&mut animator, id, character, rng);
                }
            }
        }
        if rng.chance(2) {
            // Sometimes, the clock goes back.
            let least = if rng.chance(20) { -0.3 } else { 0.0 };
            now_s += f64::from(rng.range(least, 0.2));
            animator.update(now_s).unwrap();
        }
        let changed: Vec<_> = animator.take_changed().collect();
        for id in &changed {
            assert!(animator.is_alive(*id));
            known.insert(*id, state(&animator, *id));
        }
        let mut once = changed.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), changed.len(), "listed twice");
        listed += changed.len();
        for id in animator.actors() {
            let own = state(&animator, id);
            assert_eq!(known.get(&id), Some(&own), "{id:?}");
            kept += usize::from(!changed.contains(&id));
        }
        if rng.chance(10) {
            let mut fresh = new_animator(character);
            fresh.restore(&animator.snapshot()).unwrap();
            for id in animator.actors() {
                let spheres = [&animator, &fresh].map(|it| state(it, id).1);
                assert_eq!(spheres[0], spheres[1], "{id:?}");
            }
        }
    }
    (listed, kept)
}

#[test]
fn the_end_of_a_transition_and_of_a_fade_is_a_change() {
    let character = character();
    let mut animator = Animator::new(&character).unwrap();
    let id = animator.add("Wave").unwrap();
    animator.update(0.3).unwrap();
    animator
        .live_mut(id)
        .play(Play::new("Idle").inertial_s(0.5))
        .unwrap();
    let both = animator.live(id).bounding_sphere();
    assert_eq!(animator.take_changed().count(), 1);
    animator.update(0.7).unwrap();
    assert_eq!(animator.take_changed().count(), 0);
    animator.update(0.8).unwrap();
    assert!(animator.take_changed().eq([id]));
    let idle = animator.live(id).bounding_sphere();
    assert!(idle.radius <= both.radius);
    let other = animator.add("Idle").unwrap();
    assert_eq!(animator.live(other).bounding_sphere(), idle);
}
