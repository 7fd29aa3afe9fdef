//! Components: what they change, when, and that editors find them.

use crate::support::{self, asset, id, mannequin, messages, run, spawn};
use bevy::camera::primitives::Aabb;
use bevy::camera::visibility::RenderLayers;
use bevy::prelude::*;
use bevy::world_serialization::DynamicWorldBuilder;
use bevy_throng::{
    Follows, HiddenParts, Play, Plays, SecondTint, Throng, TimeScale, Tint, UserData,
};

#[test]
fn components_change_their_instance() {
    let mut app = support::app();
    let parts = (
        Plays::new("Walk"),
        Tint(Color::linear_rgb(0.5, 0.25, 1.0)),
        SecondTint(Color::linear_rgb(0.25, 1.0, 0.5)),
        UserData(7),
        Transform::from_xyz(3.0, 0.0, -2.0),
        RenderLayers::layer(2),
    );
    let person = spawn(&mut app, parts);
    run(&mut app, 4);
    assert!(app.world().get::<Aabb>(person).is_some());
    let throng = app.world().resource::<Throng>().clone();
    {
        let lock = throng.lock().unwrap();
        let it = lock.instance(id(&app, person)).unwrap();
        assert_eq!(lock.entity(it.id()), Some(person));
        assert_eq!(it.tint(), [0.5, 0.25, 1.0, 1.0]);
        assert_eq!(it.second_tint(), [0.25, 1.0, 0.5]);
        assert_eq!(it.user_data(), 7);
        assert_eq!(it.transform().translation.to_array(), [3.0, 0.0, -2.0]);
        assert_eq!(it.view_mask(), 4 | 4 << 16);
        assert!(it.is_visible());
        assert_eq!(it.playing().count(), 1);
    }
    let part = {
        let lock = throng.lock().unwrap();
        let character = lock.characters().next().unwrap();
        let character = throng::Crowd::character(&lock, character).unwrap();
        character.parts().next().unwrap().1.to_owned()
    };
    messages::wait_for("tail");
    app.world_mut().entity_mut(person).insert((
        Plays::new(Play::new("Run").fade_s(0.0)).with(Play::new("Wave").layer(1)),
        Tint(Color::WHITE),
        Visibility::Hidden,
        HiddenParts(vec!["tail".into(), part.clone().into()]),
        bevy::light::NotShadowCaster,
        RenderLayers::layer(0),
        TimeScale(2.0),
        Transform::from_xyz(0.0, 1.0, 0.0),
    ));
    run(&mut app, 3);
    {
        let lock = throng.lock().unwrap();
        let it = lock.instance(id(&app, person)).unwrap();
        assert_eq!(it.tint(), [1.0; 4]);
        assert_eq!(it.transform().translation.to_array(), [0.0, 1.0, 0.0]);
        assert!(!it.is_visible());
        assert_eq!(it.view_mask(), 1);
        assert!(!it.is_part_visible(&*part).unwrap());
        assert_eq!(it.playing().count(), 2);
    }
    assert_eq!(messages::awaited("tail").len(), 1);
    app.world_mut()
        .entity_mut(person)
        .remove::<(HiddenParts, bevy::light::NotShadowCaster)>();
    run(&mut app, 2);
    {
        let lock = throng.lock().unwrap();
        let it = lock.instance(id(&app, person)).unwrap();
        assert!(it.is_part_visible(&*part).unwrap());
        assert_eq!(it.view_mask(), 1 | 1 << 16);
    }
    // A layer without a play fades out.
    app.world_mut()
        .entity_mut(person)
        .insert(Plays::new("Idle"));
    run(&mut app, 30);
    {
        let lock = throng.lock().unwrap();
        let it = lock.instance(id(&app, person)).unwrap();
        assert!(it.playing().all(|playing| playing.layer == 0));
    }
    app.world_mut().despawn(person);
    run(&mut app, 2);
    assert_eq!(throng.lock().unwrap().instances().len(), 0);
    messages::expect_none();
}

#[test]
fn what_did_not_change_is_not_touched() {
    let mut app = support::app();
    let person = spawn(&mut app, Plays::new("Walk"));
    run(&mut app, 4);
    let throng = app.world().resource::<Throng>().clone();
    // Set behind Bevy's back: nothing puts it back.
    let there = throng::glam::Affine3A::from_translation([5.0, 0.0, 0.0].into());
    let instance = id(&app, person);
    throng
        .lock()
        .unwrap()
        .instance_mut(instance)
        .unwrap()
        .set_transform(&there)
        .unwrap();
    run(&mut app, 5);
    let at = throng
        .lock()
        .unwrap()
        .instance(instance)
        .unwrap()
        .transform();
    assert_eq!(at.translation.x, 5.0);
    let played = throng
        .lock()
        .unwrap()
        .instance(instance)
        .unwrap()
        .playing()
        .next()
        .unwrap();
    assert!(played.time_s > 0.05, "{played:?} began again");
    messages::expect_none();
}

/// Between a spawn and the next step of the game, too.
#[test]
fn no_request_is_lost() {
    let mut app = support::app();
    app.insert_resource(bevy::time::TimeUpdateStrategy::ManualDuration(
        std::time::Duration::from_millis(1),
    ));
    let character = mannequin(&mut app);
    run(&mut app, 20);
    for wait in 0..20 {
        let parts = (character.clone(), Plays::new("Walk"));
        let person = app.world_mut().spawn(parts).id();
        run(&mut app, 1 + wait);
        let run_now = Plays::new(Play::new("Run").fade_s(0.0));
        *app.world_mut().get_mut::<Plays>(person).unwrap() = run_now;
        run(&mut app, 20);
        let throng = app.world().resource::<Throng>().clone();
        let lock = throng.lock().unwrap();
        let it = lock.instance(id(&app, person)).unwrap();
        let clips = throng::Crowd::character(&lock, it.character())
            .unwrap()
            .clips();
        let names: Vec<_> = it
            .playing()
            .map(|now| clips[now.clip.unwrap().index()].name())
            .collect();
        assert_eq!(names, ["Run"], "after {wait} frames");
    }
    messages::expect_none();
}

/// A material variant is chosen by name, and one that the character lacks is said.
#[test]
fn people_wear_material_variants() {
    let mut app = support::app();
    let mut raw = throng::import::RawCharacter::mannequin();
    let red = throng::mesh::Material::flat([0.9, 0.1, 0.1, 1.0]);
    raw.variants = vec!["red".into()];
    raw.primitives[0].variants = vec![(0, raw.materials.len())];
    raw.materials.push(red);
    let made = raw.build(&throng::import::ImportOptions::default());
    let handle = asset(&mut app, made.unwrap().character);
    let parts = (
        bevy_throng::Character3d(handle),
        bevy_throng::MaterialVariant("red".into()),
    );
    let person = app.world_mut().spawn(parts).id();
    run(&mut app, 3);
    let variant = |app: &App| {
        let lock = app.world().resource::<Throng>().lock().unwrap();
        lock.instance(id(app, person)).unwrap().variant()
    };
    assert_eq!(variant(&app), Some(throng::Id::new(0)));
    app.world_mut()
        .entity_mut(person)
        .remove::<bevy_throng::MaterialVariant>();
    run(&mut app, 2);
    assert_eq!(variant(&app), None);
    messages::wait_for("violet");
    app.world_mut()
        .entity_mut(person)
        .insert(bevy_throng::MaterialVariant("violet".into()));
    run(&mut app, 2);
    assert_eq!(variant(&app), None);
    assert!(!messages::awaited("violet").is_empty());
    messages::expect_none();
}

/// Editors and scenes find the components, apart from those that only a program can make.
#[test]
fn components_are_reflected() {
    let mut app = support::app();
    let person = spawn(&mut app, (Plays::new("Walk"), Tint(Color::BLACK)));
    let sword = app
        .world_mut()
        .spawn(Follows::new(person, "right hand"))
        .id();
    run(&mut app, 4);
    let registry = app.world().resource::<AppTypeRegistry>().clone();
    let registry = registry.read();
    for name in [
        "Character3d",
        "HiddenParts",
        "MaterialVariant",
        "Tint",
        "SecondTint",
        "UserData",
        "TimeScale",
        "RootMotion",
        "AttachedTo",
        "Follows",
        "ShowSkeleton",
        "ShowBounds",
    ] {
        let found = registry.get_with_short_type_path(name);
        let found = found.unwrap_or_else(|| panic!("{name} is not registered"));
        assert!(found.data::<ReflectComponent>().is_some(), "{name}");
    }
    let scene = DynamicWorldBuilder::from_world(app.world(), &registry);
    let scene = scene.extract_entities([person, sword].into_iter()).build();
    drop(registry);
    let mut map = bevy::ecs::entity::EntityHashMap::default();
    scene.write_to_world(app.world_mut(), &mut map).unwrap();
    run(&mut app, 4);
    let [copy, its_sword] = [person, sword].map(|entity| map[&entity]);
    assert_eq!(app.world().get::<Tint>(copy), Some(&Tint(Color::BLACK)));
    assert_ne!(id(&app, copy), id(&app, person));
    assert_eq!(
        app.world().get::<Follows>(its_sword).unwrap().character,
        copy
    );
    messages::expect_none();
}
