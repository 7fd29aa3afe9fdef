//! Entities that are refused, and what is logged of them.

use crate::support::{self, asset, id, messages, run, spawn, walking};
use bevy::prelude::*;
use bevy_throng::{AttachedTo, Instance, Parameters, Plays, RootMotion, Throng};

#[test]
fn what_cannot_be_spawned_is_reported_once_and_tried_again() {
    let mut app = support::app();
    messages::wait_for("Wlak");
    let [person, ..] = [(); 3].map(|()| spawn(&mut app, Plays::new("Wlak")));
    run(&mut app, 6);
    let said = messages::awaited("Wlak");
    assert_eq!(said.len(), 1, "{said:?}");
    let wanted = format!("no character for {person} and 2 more: clip \"Wlak\"");
    assert!(said[0].contains(&wanted), "{said:?}");
    assert!(said[0].contains("there are Walk"), "{said:?}");
    assert!(app.world().get::<Instance>(person).is_none());
    app.world_mut()
        .entity_mut(person)
        .insert(Plays::new("Walk"));
    run(&mut app, 3);
    assert!(app.world().get::<Instance>(person).is_some());
    messages::expect_none();
}

/// `Plays` on the layer of a state machine are refused by name, and the character is there.
#[test]
fn plays_on_the_layer_of_a_machine_keep_nobody_away() {
    let mut app = support::app();
    let handle = asset(&mut app, walking());
    messages::wait_for("no `Plays` beside the state machine of");
    let character = bevy_throng::Character3d(handle);
    let parts = (
        Name::new("Gawain"),
        character,
        Parameters::new(),
        Plays::new("Run"),
    );
    let person = app.world_mut().spawn(parts).id();
    run(&mut app, 8);
    let said = messages::awaited("no `Plays` beside the state machine of");
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("Gawain"), "{said:?}");
    let throng = app.world().resource::<Throng>().clone();
    let lock = throng.lock().unwrap();
    let it = lock.instance(id(&app, person)).unwrap();
    assert!(it.is_visible());
    assert_eq!(it.playing().count(), 1);
    messages::expect_none();
}

/// An entity whose instance cannot be moved is named, and does not hold back the others.
#[test]
fn one_who_cannot_be_moved_holds_back_nobody() {
    let mut app = support::app();
    let rider = spawn(&mut app, (Name::new("Kay"), Plays::new("Idle")));
    let gone = spawn(&mut app, Plays::new("Idle"));
    let walker = spawn(&mut app, Plays::new("Idle"));
    run(&mut app, 4);
    let throng = app.world().resource::<Throng>().clone();
    let [carried, despawned, walking] = [rider, gone, walker].map(|entity| id(&app, entity));
    {
        let mut lock = throng.lock().unwrap();
        let root = throng::Crowd::character(&lock, lock.instance(walking).unwrap().character())
            .unwrap()
            .skeleton()
            .joints()[0]
            .name
            .to_string();
        let to = throng::Attachment::new(walking, &*root);
        lock.instance_mut(carried).unwrap().attach_to(to).unwrap();
        lock.despawn(despawned).unwrap();
    }
    messages::wait_for("of an attached instance");
    for entity in [rider, gone, walker] {
        let mut place = app.world_mut().get_mut::<Transform>(entity).unwrap();
        place.translation.x = 4.0;
    }
    run(&mut app, 2);
    let said = messages::awaited("of an attached instance");
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("Kay"), "{said:?}");
    let lock = throng.lock().unwrap();
    let it = lock.instance(walking).unwrap();
    assert_eq!(it.transform().translation.to_array(), [4.0, 0.0, 0.0]);
    drop(lock);
    messages::expect_none();
}

/// A fault of each entity's own is a line, but only so many at a time.
#[test]
fn many_kinds_of_faults_are_counted() {
    let mut app = support::app();
    messages::wait_for("Wlak");
    messages::wait_for("more faults of entities");
    for number in 0..70 {
        let name: &'static str = format!("Wlak{number}").leak();
        spawn(&mut app, Plays::new(name));
    }
    run(&mut app, 6);
    assert_eq!(messages::awaited("Wlak").len(), 64);
    let said = messages::awaited("more faults of entities");
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("6 more faults of entities"), "{said:?}");
    messages::expect_none();
}

/// Refused people may move in each frame. They are tried again, and the fault is one line.
#[test]
fn a_refusal_is_not_repeated_while_its_entity_moves() {
    let mut app = support::app();
    messages::wait_for("Wlak on the move");
    let person = spawn(&mut app, Plays::new("Wlak on the move"));
    app.add_systems(Update, |mut people: Query<&mut Transform>| {
        people.iter_mut().for_each(|mut it| it.translation.x += 0.1);
    });
    run(&mut app, 20);
    assert_eq!(messages::awaited("Wlak on the move").len(), 1);
    assert!(app.world().get::<Instance>(person).is_none());
    messages::expect_none();
}

/// A fault of many entities that goes on is one line.
#[test]
fn walkers_with_parents_are_one_line() {
    let mut app = support::app();
    messages::wait_for("does not walk by RootMotion");
    let parent = app.world_mut().spawn(Transform::default()).id();
    for _ in 0..100 {
        spawn(&mut app, (Plays::new("Walk"), RootMotion, ChildOf(parent)));
    }
    run(&mut app, 8);
    let said = messages::awaited("does not walk by RootMotion");
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("and 99 more"), "{said:?}");
    let lock = app.world().resource::<Throng>().lock().unwrap();
    let mut all = lock.instances();
    assert!(all.all(|id| lock.instance(id).unwrap().transform().translation.z == 0.0));
    drop(all);
    drop(lock);
    messages::expect_none();
}

/// Characters that carry each other wait, which is said, until one of them is let go.
#[test]
fn characters_that_carry_each_other_wait() {
    let mut app = support::app();
    messages::wait_for("its carriers carry each other");
    let joint = support::last_joint();
    let [one, other] = [(); 2].map(|()| spawn(&mut app, Plays::new("Idle")));
    for (rider, carrier) in [(one, other), (other, one)] {
        let to = AttachedTo::new(carrier, joint.clone());
        app.world_mut().entity_mut(rider).insert(to);
    }
    let third = spawn(&mut app, AttachedTo::new(one, joint.clone()));
    run(&mut app, 8);
    assert!(!messages::awaited("its carriers carry each other").is_empty());
    let has = |app: &App, entity| app.world().get::<Instance>(entity).is_some();
    assert!([one, other, third].iter().all(|it| !has(&app, *it)));
    app.world_mut().entity_mut(other).remove::<AttachedTo>();
    run(&mut app, 3);
    let lock = app.world().resource::<Throng>().lock().unwrap();
    for (rider, carrier) in [(one, other), (third, one)] {
        let attached = lock.instance(id(&app, rider)).unwrap().attachment();
        assert_eq!(attached.unwrap().parent, id(&app, carrier));
    }
    drop(lock);
    messages::expect_none();
}

/// A thread that locks the crowd twice gets an error, and does not wait for itself.
#[test]
fn a_second_lock_is_refused() {
    let mut app = support::app();
    run(&mut app, 2);
    let throng = app.world().resource::<Throng>().clone();
    let first = throng.lock().unwrap();
    assert_eq!(throng.lock().err(), Some(bevy_throng::LockError::Held));
    let waits = {
        let throng = throng.clone();
        std::thread::spawn(move || throng.lock().is_ok())
    };
    drop(first);
    assert!(waits.join().unwrap());
    assert!(throng.lock().is_ok());
    messages::expect_none();
}
