//! The game: steps, events, state machines and picking.

use crate::support::{self, asset, camera, id, mannequin, messages, run, spawn, walking};
use bevy::prelude::*;
use bevy_throng::{CharacterEvent, Instance, Parameters, Play, Plays, Throng};

#[test]
fn events_reach_readers_and_observers() {
    #[derive(Resource, Default)]
    struct Seen(Vec<String>);

    let mut app = support::app();
    app.init_resource::<Seen>();
    let dancer = spawn(&mut app, Plays::new(Play::new("Wave").once()));
    let observe = |event: On<CharacterEvent>, mut seen: ResMut<Seen>| {
        seen.0
            .push(format!("{} {}", event.name, event.is_finished()));
    };
    app.world_mut().entity_mut(dancer).observe(observe);
    let mut read = Vec::new();
    for _ in 0..600 {
        app.update();
        let events = app.world().resource::<Messages<CharacterEvent>>();
        let mut cursor = events.get_cursor();
        let now = cursor.read(events).filter(|event| event.entity == dancer);
        read.extend(now.map(|event| event.time_s));
        if !read.is_empty() {
            break;
        }
    }
    assert!(!read.is_empty(), "the clip never ended");
    assert_eq!(app.world().resource::<Seen>().0, ["Wave true"]);
    messages::expect_none();
}

#[test]
fn parameters_drive_state_machines() {
    // That of the README, with clips of the mannequin.
    let readme = include_str!("../README.md");
    let (_, text) = readme.split_once("```toml\n[state_machine]").unwrap();
    let (text, _) = text.split_once("```").unwrap();
    let text = &format!("[state_machine]{}", text.replace("\"Die\"", "\"Wave\""));
    let mut app = support::app();
    let plain = throng::builtin::mannequin().unwrap().character;
    let character = plain.with_animation_toml("test.toml", text).unwrap();
    let mut assets = app
        .world_mut()
        .resource_mut::<Assets<bevy_throng::CharacterAsset>>();
    let handle = assets.add(bevy_throng::CharacterAsset::new(character));
    let parts = (
        bevy_throng::Character3d(handle),
        Parameters::new().with("speed", 0.0),
    );
    let person = app.world_mut().spawn(parts).id();
    run(&mut app, 5);
    let throng = app.world().resource::<Throng>().clone();
    let plays = |app: &App| {
        let lock = throng.lock().unwrap();
        let it = lock.instance(id(app, person)).unwrap();
        let playing = it.playing().last().unwrap();
        assert!(playing.by_state_machine);
        let character = throng::Crowd::character(&lock, it.character()).unwrap();
        character.clips()[playing.clip.unwrap().index()]
            .name()
            .to_owned()
    };
    assert_eq!(plays(&app), "Idle");
    app.world_mut()
        .get_mut::<Parameters>(person)
        .unwrap()
        .set("speed", 2.0);
    run(&mut app, 5);
    assert_eq!(plays(&app), "Walk");
    // Until the first transition has ended.
    run(&mut app, 20);
    app.world_mut()
        .get_mut::<Parameters>(person)
        .unwrap()
        .trigger("dies");
    run(&mut app, 5);
    assert_eq!(plays(&app), "Wave");
    // An unknown parameter is reported, and nothing else happens.
    messages::wait_for("sped");
    app.world_mut()
        .get_mut::<Parameters>(person)
        .unwrap()
        .set("sped", 2.0);
    run(&mut app, 3);
    assert_eq!(messages::awaited("sped").len(), 1);
    messages::expect_none();
}

#[test]
fn pointers_hit_people() {
    use bevy::picking::backend::PointerHits;
    use bevy::picking::backend::ray::{RayId, RayMap};
    use bevy::picking::pointer::PointerId;

    let mut app = support::app();
    let camera = camera(&mut app, Vec3::new(0.0, 1.0, 5.0), Vec3::new(0.0, 1.0, 0.0));
    let near = spawn(
        &mut app,
        (Plays::new("Idle"), Transform::from_xyz(0.0, 0.0, 1.0)),
    );
    let far = spawn(&mut app, Plays::new("Idle"));
    app.world_mut().entity_mut(near).insert(Pickable {
        should_block_lower: false,
        is_hoverable: true,
    });
    run(&mut app, 4);
    // The pointer of the test, instead of a mouse.
    app.add_systems(
        PreUpdate,
        (move |mut rays: ResMut<RayMap>| {
            let ray = Ray3d::new(Vec3::new(0.0, 1.0, 5.0), Dir3::NEG_Z);
            rays.map.insert(RayId::new(camera, PointerId::Mouse), ray);
        })
        .after(bevy::picking::PickingSystems::ProcessInput)
        .before(bevy::picking::PickingSystems::Backend),
    );
    run(&mut app, 2);
    let hits = app.world().resource::<Messages<PointerHits>>();
    let mut cursor = hits.get_cursor();
    let picks: Vec<_> = cursor.read(hits).flat_map(|hits| &hits.picks).collect();
    let at = picks
        .iter()
        .position(|(entity, _)| *entity == near)
        .unwrap();
    let (_, hit) = picks[at];
    let position = hit.position.unwrap();
    assert!((position.z - 1.0).abs() < 0.5, "{position}");
    assert!((hit.depth - (5.0 - position.z)).abs() < 1e-3);
    assert!(hit.extra_as::<bevy_throng::CharacterHit>().is_some());
    let hit = |person| picks.iter().filter(|(entity, _)| *entity == person).count();
    assert_eq!((hit(near), hit(far)), (2, 2), "once in each of two frames");
    messages::expect_none();
}

#[test]
fn instances_without_entities_are_drawn() {
    let mut app = support::app();
    camera(&mut app, Vec3::new(0.0, 2.0, 8.0), Vec3::new(0.0, 1.0, 0.0));
    let character = mannequin(&mut app);
    run(&mut app, 3);
    let throng = app.world().resource::<Throng>().clone();
    {
        let mut lock = throng.lock().unwrap();
        let person = lock.character(&character.0).unwrap();
        lock.reserve_instances(&character.0, 3000).unwrap();
        for i in 0..3000 {
            let at = [(i % 60) as f32 - 30.0, 0.0, -((i / 60) as f32)];
            let world_from_model = throng::glam::Affine3A::from_translation(at.into());
            let spawn = throng::Spawn {
                world_from_model,
                play: "Walk".into(),
                ..Default::default()
            };
            lock.spawn(person, &spawn).unwrap();
        }
    }
    run(&mut app, 6);
    let shown = throng
        .lock()
        .unwrap()
        .view_stats()
        .first()
        .map(|stats| stats.shown);
    assert!(shown.is_some_and(|shown| shown > 500), "{shown:?}");
    assert_eq!(
        app.world_mut()
            .query::<&Instance>()
            .iter(app.world())
            .count(),
        0
    );
    messages::expect_none();
}

/// A state machine enters its first states in a step. Nobody is seen in the rest pose before.
#[test]
fn people_with_state_machines_appear_with_a_step() {
    let mut app = support::app();
    let handle = asset(&mut app, walking());
    run(&mut app, 3);
    let parts = (bevy_throng::Character3d(handle), Parameters::new());
    let person = app.world_mut().spawn(parts).id();
    let throng = app.world().resource::<Throng>().clone();
    let mut was_seen = false;
    for _ in 0..6 {
        app.update();
        if app.world().get::<Instance>(person).is_none() {
            continue;
        }
        let lock = throng.lock().unwrap();
        let it = lock.instance(id(&app, person)).unwrap();
        assert!(!it.is_visible() || it.playing().count() > 0);
        was_seen |= it.is_visible();
    }
    assert!(was_seen);
    messages::expect_none();
}

/// Shading that is removed gives way to Bevy's.
#[test]
fn removed_shading_leaves_bevys() {
    let mut app = support::app();
    camera(&mut app, Vec3::new(0.0, 1.0, 4.0), Vec3::new(0.0, 1.0, 0.0));
    support::sun(&mut app);
    let mannequin = mannequin(&mut app);
    support::person(&mut app, &mannequin, "Idle", Vec3::ZERO);
    let bevys = support::picture(&mut app, 8);
    let red = "@fragment fn throng_shade(in: ThrongIn) -> @location(0) vec4f {
        return vec4f(1, 0, 0, 1);
    }";
    app.insert_resource(bevy_throng::Shading::new(red));
    let own = support::picture(&mut app, 8);
    assert_ne!(own, bevys);
    app.world_mut().remove_resource::<bevy_throng::Shading>();
    assert_eq!(support::picture(&mut app, 8), bevys);
    messages::expect_none();
}

/// The crowd is there in `Startup`, and a fault in the program's shading leaves Bevy's.
#[test]
fn the_crowd_is_ready_when_the_app_starts() {
    let mut app = support::app();
    app.add_systems(Startup, |throng: Res<Throng>| {
        assert_eq!(throng.lock().unwrap().instances().len(), 0);
    });
    messages::wait_for("bevy_lti");
    let text =
        "@fragment fn throng_shade(in: ThrongIn) -> @location(0) vec4f { return bevy_lti(in); }";
    app.insert_resource(bevy_throng::Shading::new(text));
    camera(&mut app, Vec3::new(0.0, 1.0, 4.0), Vec3::new(0.0, 1.0, 0.0));
    let empty = support::picture(&mut app, 4);
    let person = spawn(&mut app, Plays::new("Idle"));
    app.world_mut()
        .spawn((PointLight::default(), Transform::from_xyz(0.0, 2.0, 3.0)));
    let shown = support::picture(&mut app, 8);
    assert!(app.world().get::<Instance>(person).is_some());
    assert!(!messages::awaited("bevy_lti").is_empty());
    assert_ne!(empty, shown);
    messages::expect_none();
}
