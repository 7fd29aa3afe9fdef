//! Changes of entities that come at odd times: removals, swaps, clones and pools.

use crate::support::{self, asset, id, mannequin, messages, run, spawn, walking};
use bevy::camera::primitives::Aabb;
use bevy::ecs::entity_disabling::Disabled;
use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_throng::{
    AttachedTo, Character3d, CharacterAsset, Instance, Parameters, Play, Plays, SecondTint, Throng,
    TimeScale, Tint, UserData,
};
use std::time::Duration;

/// The names of the clips that somebody plays, and that do not fade out.
fn clips(app: &App, entity: Entity) -> Vec<String> {
    let lock = app.world().resource::<Throng>().lock().unwrap();
    let it = lock.instance(id(app, entity)).unwrap();
    let character = throng::Crowd::character(&lock, it.character()).unwrap();
    let names = character.clips();
    let playing = it.playing().filter(|now| now.to_weight > 0.0);
    playing
        .map(|now| names[now.clip.unwrap().index()].name().to_owned())
        .collect()
}

/// An entity that loses a component is as if it never had it.
#[test]
fn components_that_are_removed_are_undone() {
    let mut app = support::app();
    let parts = (
        Plays::new("Walk").with(Play::new("Wave").layer(1)),
        Tint(Color::BLACK),
        SecondTint(Color::BLACK),
        UserData(7),
        TimeScale(0.0),
    );
    let person = spawn(&mut app, parts);
    run(&mut app, 4);
    let throng = app.world().resource::<Throng>().clone();
    {
        let lock = throng.lock().unwrap();
        let it = lock.instance(id(&app, person)).unwrap();
        assert_eq!(it.playing().count(), 2);
        assert!(it.playing().all(|now| now.time_s == 0.0));
    }
    app.world_mut()
        .entity_mut(person)
        .remove::<(Tint, SecondTint, UserData, TimeScale)>();
    run(&mut app, 4);
    {
        let lock = throng.lock().unwrap();
        let it = lock.instance(id(&app, person)).unwrap();
        assert_eq!(it.tint(), [1.0; 4]);
        assert_eq!(it.second_tint(), [1.0; 3]);
        assert_eq!(it.user_data(), 0);
        assert!(it.playing().all(|now| now.time_s > 0.0));
    }
    app.world_mut().entity_mut(person).remove::<Plays>();
    run(&mut app, 30);
    assert_eq!(clips(&app, person), [""; 0]);
    messages::expect_none();
}

/// Bevy knows of a removal for two frames, and there are many more between two steps.
#[test]
fn removals_between_steps_are_seen() {
    let mut app = support::app();
    let machine = asset(&mut app, walking());
    let one = spawn(&mut app, (Plays::new("Walk"), TimeScale(0.0)));
    let parts = (Character3d(machine), Parameters::new());
    let other = app.world_mut().spawn(parts).id();
    run(&mut app, 4);
    assert_eq!(clips(&app, one), ["Walk"]);
    assert_eq!(clips(&app, other), ["Walk"]);
    let frame = TimeUpdateStrategy::ManualDuration(Duration::from_millis(1));
    app.insert_resource(frame);
    run(&mut app, 3);
    app.world_mut()
        .entity_mut(one)
        .remove::<(Plays, TimeScale)>();
    app.world_mut().entity_mut(other).remove::<Parameters>();
    run(&mut app, 40);
    assert_eq!(clips(&app, one), [""; 0]);
    assert_eq!(clips(&app, other), [""; 0]);
    messages::expect_none();
}

/// Another character with other plays, in one command.
#[test]
fn what_is_removed_and_inserted_again_is_there() {
    let mut app = support::app();
    let [old, new] = [(); 2].map(|()| asset(&mut app, walking()));
    let one = spawn(&mut app, Plays::new("Run"));
    let parts = (Character3d(old), Parameters::new());
    let other = app.world_mut().spawn(parts).id();
    run(&mut app, 4);
    let another = mannequin(&mut app);
    app.world_mut()
        .entity_mut(one)
        .remove::<(Character3d, Plays)>()
        .insert((another, Plays::new("Walk")));
    app.world_mut()
        .entity_mut(other)
        .remove::<(Character3d, Parameters)>()
        .insert((Character3d(new), Parameters::new()));
    run(&mut app, 30);
    assert_eq!(clips(&app, one), ["Walk"]);
    assert_eq!(clips(&app, other), ["Walk"]);
    messages::expect_none();
}

/// Without its state machine, a character plays what its `Plays` say.
#[test]
fn plays_go_on_after_a_machine() {
    let mut app = support::app();
    let parts = (Character3d(asset(&mut app, walking())), Plays::new("Run"));
    let person = app.world_mut().spawn(parts).id();
    run(&mut app, 4);
    assert_eq!(clips(&app, person), ["Run"]);
    let machine = Parameters::new();
    app.world_mut().entity_mut(person).insert(machine);
    run(&mut app, 30);
    assert_eq!(clips(&app, person), ["Walk"]);
    app.world_mut().entity_mut(person).remove::<Parameters>();
    run(&mut app, 30);
    assert_eq!(clips(&app, person), ["Run"]);
    messages::expect_none();
}

/// An observer of the instance may say what it plays.
#[test]
fn plays_may_come_with_the_instance() {
    let mut app = support::app();
    app.add_observer(|add: On<Add, Instance>, mut all: Query<&mut Plays>| {
        *all.get_mut(add.entity).unwrap() = Plays::new(Play::new("Run").fade_s(0.0));
    });
    let person = spawn(&mut app, Plays::new("Walk"));
    run(&mut app, 6);
    assert_eq!(clips(&app, person), ["Run"]);
    messages::expect_none();
}

/// The built-in character with a state machine that stands, and walks if the speed is above 0.1.
fn walks_if_fast() -> throng::character::Character {
    let text = r#"
        [state_machine]
        parameter = [{ name = "speed", kind = "float" }]
        [[state_machine.layer]]
        name = "body"
        entry = "stand"
        state = [
            { name = "stand", motion.clip = "Idle" },
            { name = "walk", motion.clip = "Walk" },
        ]
        transition = [{ from = "stand", to = "walk", when = ["speed > 0.1"], fade_s = 0.2 }]
    "#;
    let plain = throng::builtin::mannequin().unwrap().character;
    plain.with_animation_toml("test.toml", text).unwrap()
}

/// A new instance has the parameters that were set once.
#[test]
fn parameters_outlast_an_instance() {
    let mut app = support::app();
    let [old, new] = [(); 2].map(|()| asset(&mut app, walks_if_fast()));
    let parts = (Character3d(old), Parameters::new());
    let person = app.world_mut().spawn(parts).id();
    run(&mut app, 4);
    assert_eq!(clips(&app, person), ["Idle"]);
    let mut parameters = app.world_mut().get_mut::<Parameters>(person).unwrap();
    parameters.set("speed", 1.0);
    run(&mut app, 30);
    assert_eq!(clips(&app, person), ["Walk"]);
    // One that the machine lacks is said once for each of them, and harms nobody.
    messages::wait_for("spede");
    let mut parameters = app.world_mut().get_mut::<Parameters>(person).unwrap();
    parameters.set("spede", 1.0);
    run(&mut app, 3);
    app.world_mut().entity_mut(person).insert(Character3d(new));
    run(&mut app, 30);
    assert_eq!(clips(&app, person), ["Walk"]);
    let copy = app.world().get::<Parameters>(person).unwrap().clone();
    let other = app.world().get::<Character3d>(person).unwrap().clone();
    let twin = app.world_mut().spawn((other, Parameters::new())).id();
    run(&mut app, 4);
    *app.world_mut().get_mut::<Parameters>(twin).unwrap() = copy;
    run(&mut app, 30);
    assert_eq!(clips(&app, twin), ["Walk"]);
    assert_eq!(messages::awaited("spede").len(), 2);
    messages::expect_none();
}

/// A clone has an instance of its own, and an attachment goes with the clones of both.
#[test]
fn clones_are_people_of_their_own() {
    let mut app = support::app();
    let first = spawn(&mut app, Plays::new("Walk"));
    run(&mut app, 4);
    let second = app.world_mut().entity_mut(first).clone_and_spawn();
    let place = Transform::from_xyz(3.0, 0.0, 0.0);
    app.world_mut().entity_mut(second).insert(place);
    run(&mut app, 4);
    assert_ne!(id(&app, first), id(&app, second));
    let throng = app.world().resource::<Throng>().clone();
    let at = |entity| {
        let lock = throng.lock().unwrap();
        let it = lock.instance(id(&app, entity)).unwrap();
        it.transform().translation.x
    };
    assert_eq!([first, second].map(at), [0.0, 3.0]);
    app.world_mut().despawn(second);
    run(&mut app, 3);
    assert_eq!(throng.lock().unwrap().instances().len(), 1);
    messages::expect_none();
}

/// Entities in a pool are not drawn, and begin again.
#[test]
fn disabled_people_have_no_instance() {
    let mut app = support::app();
    let person = spawn(&mut app, Plays::new("Walk"));
    run(&mut app, 4);
    let throng = app.world().resource::<Throng>().clone();
    let count = || throng.lock().unwrap().instances().len();
    app.world_mut().entity_mut(person).insert(Disabled);
    run(&mut app, 3);
    assert_eq!(count(), 0);
    // What changed meanwhile holds.
    app.world_mut().entity_mut(person).insert(UserData(5));
    run(&mut app, 3);
    app.world_mut().entity_mut(person).remove::<Disabled>();
    run(&mut app, 3);
    assert_eq!(count(), 1);
    let lock = throng.lock().unwrap();
    assert_eq!(lock.instance(id(&app, person)).unwrap().user_data(), 5);
    drop(lock);
    messages::expect_none();
}

/// Riders wait for their carriers, go along with a new character, and dismount where their
/// transforms are.
#[test]
fn riders_wait_for_carriers() {
    let mut app = support::app();
    let joint = support::last_joint();
    // One who is there before its carrier, and one who comes with it.
    let early = spawn(&mut app, Plays::new("Idle"));
    run(&mut app, 3);
    let place = Transform::from_xyz(7.0, 0.0, 0.0);
    let carrier = app.world_mut().spawn(place).id();
    messages::wait_for("its carrier is no character");
    let riders = [early, spawn(&mut app, Plays::new("Idle"))];
    for rider in riders {
        let to = AttachedTo::new(carrier, joint.clone());
        app.world_mut().entity_mut(rider).insert(to);
    }
    run(&mut app, 6);
    let said = messages::awaited("its carrier is no character");
    assert_eq!(said.len(), 2, "{said:?}");
    let throng = app.world().resource::<Throng>().clone();
    let carried = |app: &App| {
        let lock = throng.lock().unwrap();
        riders.map(|rider| {
            let it = lock.instance(id(app, rider)).unwrap();
            lock.entity(it.attachment()?.parent)
        })
    };
    assert_eq!(carried(&app), [None; 2]);
    for _ in 0..2 {
        // Another character means another instance.
        let character = mannequin(&mut app);
        let parts = (character, Plays::new("Idle"));
        app.world_mut().entity_mut(carrier).insert(parts);
        run(&mut app, 6);
        assert_eq!(carried(&app), [Some(carrier); 2]);
    }
    for rider in riders {
        app.world_mut()
            .entity_mut(rider)
            .remove::<AttachedTo>()
            .insert(Transform::from_xyz(1.0, 2.0, 3.0));
    }
    run(&mut app, 2);
    let lock = throng.lock().unwrap();
    for rider in riders {
        let it = lock.instance(id(&app, rider)).unwrap();
        assert!(it.attachment().is_none());
        assert_eq!(it.transform().translation.to_array(), [1.0, 2.0, 3.0]);
    }
    drop(lock);
    messages::expect_none();
}

/// If a file gets the clip that was missing, people who wait for it appear.
#[test]
fn refused_people_are_tried_with_a_new_file() {
    let mut app = support::app();
    let mut raw = throng::import::RawCharacter::mannequin();
    let build = |raw: &throng::import::RawCharacter| {
        let made = raw.clone().build(&throng::import::ImportOptions::default());
        made.unwrap().character
    };
    let handle = asset(&mut app, build(&raw));
    messages::wait_for("Saunter");
    let character = Character3d(handle.clone());
    let refused = app
        .world_mut()
        .spawn((character.clone(), Plays::new("Saunter")))
        .id();
    let other = app
        .world_mut()
        .spawn((character.clone(), Plays::new("Saunter")))
        .id();
    let drawn = app.world_mut().spawn(Character3d(handle.clone())).id();
    run(&mut app, 4);
    assert_eq!(messages::awaited("Saunter").len(), 1);
    // Or if the wish is taken back.
    app.world_mut().entity_mut(other).remove::<Plays>();
    run(&mut app, 3);
    assert!(app.world().get::<Instance>(other).is_some());
    assert!(app.world().get::<Instance>(refused).is_none());
    // Or with a file that is not loaded yet.
    let later = app
        .world_mut()
        .spawn((character, Plays::new("Saunter")))
        .id();
    run(&mut app, 3);
    let empty = app
        .world()
        .resource::<Assets<CharacterAsset>>()
        .reserve_handle();
    let parts = (Character3d(empty.clone()), Plays::new("Walk"));
    app.world_mut().entity_mut(later).insert(parts);
    run(&mut app, 3);
    let mannequin = CharacterAsset::mannequin().unwrap();
    let mut assets = app.world_mut().resource_mut::<Assets<CharacterAsset>>();
    assets.insert(&empty, mannequin).unwrap();
    run(&mut app, 4);
    assert!(app.world().get::<Instance>(later).is_some());
    let bounds = *app.world().get::<Aabb>(drawn).unwrap();
    raw.animations[0].name = "Saunter".into();
    for node in &mut raw.nodes {
        node.transform.translation *= 2.0;
    }
    let new = CharacterAsset::new(build(&raw));
    let mut assets = app.world_mut().resource_mut::<Assets<CharacterAsset>>();
    assets.insert(&handle, new).unwrap();
    run(&mut app, 4);
    assert!(app.world().get::<Instance>(refused).is_some());
    assert_ne!(*app.world().get::<Aabb>(drawn).unwrap(), bounds);
    messages::expect_none();
}

/// The old instance is not asked for a clip, or for a state machine, that only the new character
/// has.
#[test]
fn plays_that_come_with_another_character_are_for_that_one() {
    let mut app = support::app();
    let [one, other] = [(); 2].map(|()| spawn(&mut app, TimeScale(1.0)));
    run(&mut app, 4);
    let machine = Character3d(asset(&mut app, walking()));
    let mut raw = throng::import::RawCharacter::mannequin();
    raw.animation = None;
    for clip in &mut raw.animations {
        clip.name = format!("other {}", clip.name).into();
    }
    let raw = raw.build(&throng::import::ImportOptions::default());
    let renamed = Character3d(asset(&mut app, raw.unwrap().character));
    run(&mut app, 2);
    let parts = (machine, Parameters::new());
    app.world_mut().entity_mut(one).insert(parts);
    let parts = (renamed, Plays::new("other Walk"));
    app.world_mut().entity_mut(other).insert(parts);
    run(&mut app, 4);
    let lock = app.world().resource::<Throng>().lock().unwrap();
    let it = lock.instance(id(&app, one)).unwrap();
    assert!(it.has_state_machine());
    drop(lock);
    assert_eq!(clips(&app, other), ["other Walk"]);
    messages::expect_none();
}

/// A state machine that comes later starts once, however often its parameters change.
#[test]
fn a_later_state_machine_starts_once() {
    let mut app = support::app();
    let character = Character3d(asset(&mut app, walks_if_fast()));
    let person = app.world_mut().spawn(character).id();
    run(&mut app, 4);
    app.world_mut().entity_mut(person).insert(Parameters::new());
    for number in 0..40 {
        let mut parameters = app.world_mut().get_mut::<Parameters>(person).unwrap();
        parameters.set("speed", 1.0 + number as f32);
        run(&mut app, 1);
    }
    assert_eq!(clips(&app, person), ["Walk"]);
    // The fade from its first state has ended.
    let lock = app.world().resource::<Throng>().lock().unwrap();
    assert_eq!(
        lock.instance(id(&app, person)).unwrap().playing().count(),
        1
    );
    drop(lock);
    messages::expect_none();
}
