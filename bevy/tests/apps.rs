//! Apps: two in a process, the plugin twice, without pipelined rendering, and lost devices.

use crate::support::{self, camera, mannequin, messages, person, picture, run};
use bevy::prelude::*;
use bevy::render::pipelined_rendering::RenderAppChannels;
use bevy::render::{ExtractSchedule, view::WindowSurfaces};
use bevy_throng::{Throng, ThrongPlugin};

#[test]
fn two_apps_and_two_plugins_are_fine() {
    let mut apps: Vec<_> = (0..2).map(|_| support::app()).collect();
    for app in &mut apps {
        camera(app, Vec3::new(0.0, 1.0, 4.0), Vec3::new(0.0, 1.0, 0.0));
        let character = mannequin(app);
        person(app, &character, "Walk", Vec3::ZERO);
    }
    for _ in 0..6 {
        apps.iter_mut().for_each(App::update);
    }
    let mut pictures = apps.iter_mut().map(|app| picture(app, 4));
    assert_eq!(pictures.next(), pictures.next());
    messages::expect_none();
    messages::wait_for("twice");
    let mut app = App::new();
    app.add_plugins((ThrongPlugin::default(), ThrongPlugin::default()));
    assert_eq!(messages::awaited("twice").len(), 1);
}

/// wgpu waits for the device when a surface is dropped, without a lock of the queue.
#[test]
fn nothing_is_submitted_while_bevy_drops_surfaces() {
    let mut app = support::app();
    run(&mut app, 2);
    let mut channels = app.world_mut().resource_mut::<RenderAppChannels>();
    let render = bevy::tasks::block_on(channels.recv()).unwrap();
    let surfaces = render.world().component_id::<WindowSurfaces>().unwrap();
    let schedule = render.get_schedule(ExtractSchedule).unwrap();
    let one_by_one = schedule.graph().conflicting_systems().iter();
    // Bevy's system that drops them, and throng's that submits.
    let waits = one_by_one.filter(|(_, _, on)| on.contains(&surfaces));
    assert_eq!(waits.count(), 1);
    channels.send_blocking(render);
}

#[test]
fn spawns_and_despawns_by_the_thousand_leave_nothing() {
    let mut app = support::app();
    camera(&mut app, Vec3::new(0.0, 4.0, 20.0), Vec3::ZERO);
    let character = mannequin(&mut app);
    let throng = app.world().resource::<Throng>().clone();
    for round in 0..4 {
        let people: Vec<_> = (0..1500)
            .map(|i| {
                let at = Vec3::new((i % 50) as f32, 0.0, -((i / 50) as f32));
                person(&mut app, &character, "Walk", at)
            })
            .collect();
        run(&mut app, 6);
        assert_eq!(
            throng.lock().unwrap().instances().len(),
            1500,
            "round {round}"
        );
        for person in people {
            app.world_mut().despawn(person);
        }
        run(&mut app, 2);
        assert_eq!(throng.lock().unwrap().instances().len(), 0);
    }
    messages::expect_none();
}

#[test]
fn a_device_that_is_lost_ends_in_errors_not_in_panics() {
    let mut app = support::app();
    let character = mannequin(&mut app);
    person(&mut app, &character, "Walk", Vec3::ZERO);
    run(&mut app, 6);
    let throng = app.world().resource::<Throng>().clone();
    messages::wait_for("lost");
    throng.lock().unwrap().gpu().device().destroy();
    let mut lock = throng.lock().unwrap();
    assert!(lock.begin_frame(1e3).is_err() || lock.wait_for_frame().is_err());
    drop(lock);
    run(&mut app, 4);
}
