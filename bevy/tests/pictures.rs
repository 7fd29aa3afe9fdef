//! People in Bevy's pictures.

use crate::support::{self, camera, mannequin, mesh, messages, person, picture, sun};
use bevy::prelude::*;

/// A floor, a box and three people, seen from the front.
fn plaza(app: &mut App) -> Entity {
    let floor = Plane3d::default().mesh().size(30.0, 30.0);
    mesh(app, floor, Color::srgb(0.45, 0.5, 0.4), Transform::IDENTITY);
    let place = Transform::from_xyz(0.6, 0.5, 0.6);
    let size = Cuboid::new(0.6, 1.0, 0.6);
    mesh(app, size, Color::srgb(0.7, 0.4, 0.3), place);
    let character = mannequin(app);
    for x in [-1.2, 0.0, 1.2] {
        person(app, &character, "Walk", Vec3::new(x, 0.0, 0.0));
    }
    camera(app, Vec3::new(0.0, 2.2, 5.0), Vec3::new(0.0, 0.8, 0.0))
}

/// The number of pixels that differ by more than this.
fn different(a: &[u8], b: &[u8], by: u8) -> usize {
    assert_eq!(a.len(), b.len());
    let pixels = a.chunks_exact(4).zip(b.chunks_exact(4));
    let differ = |(a, b): &(&[u8], &[u8])| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > by);
    pixels.filter(differ).count()
}

#[test]
fn lamps_cast_shadows_of_people() {
    let mut app = support::app();
    plaza(&mut app);
    let lamp = PointLight {
        intensity: 400_000.0,
        shadow_maps_enabled: true,
        ..default()
    };
    app.world_mut()
        .spawn((lamp, Transform::from_xyz(-0.5, 2.5, 2.0)));
    let spot = SpotLight {
        intensity: 900_000.0,
        shadow_maps_enabled: true,
        ..default()
    };
    let place = Transform::from_xyz(3.0, 3.0, 2.0).looking_at(Vec3::new(1.0, 0.5, 0.0), Vec3::Y);
    app.world_mut().spawn((spot, place));
    let people = picture(&mut app, 10);
    support::save("lamps.png", &people);
    messages::expect_none();
}

#[test]
fn cameras_of_all_kinds_show_people() {
    use bevy::camera::Hdr;
    use bevy::core_pipeline::prepass::{DepthPrepass, MotionVectorPrepass};
    let mut shown = Vec::new();
    for kind in 0..6 {
        let mut app = support::app();
        let camera = plaza(&mut app);
        sun(&mut app);
        let mut camera = app.world_mut().entity_mut(camera);
        match kind {
            0 => &mut camera,
            1 => camera.insert(Hdr),
            2 => camera.insert(Msaa::Sample4),
            3 => camera.insert(DepthPrepass),
            4 => camera.insert((DepthPrepass, MotionVectorPrepass)),
            _ => camera.insert((DepthPrepass, MotionVectorPrepass, Msaa::Sample4, Hdr)),
        };
        shown.push(picture(&mut app, 10));
        support::save(&format!("camera{kind}.png"), shown.last().unwrap());
        messages::expect_none();
    }
    // Without samples, only rounding differs; with four, edges do.
    for (kind, picture) in shown.iter().enumerate() {
        let allowed = if kind == 2 || kind == 5 { 900 } else { 8 };
        let differ = different(&shown[0], picture, 24);
        assert!(differ <= allowed, "camera {kind}: {differ} pixels differ");
    }
}

/// Lamps that nobody sees have no shadow maps in Bevy, and take no views.
#[test]
fn hidden_lamps_take_no_views() {
    let mut app = support::app();
    camera(&mut app, Vec3::new(0.0, 2.0, 6.0), Vec3::Y);
    support::spawn(&mut app, bevy_throng::Plays::new("Idle"));
    for number in 0..6 {
        let light = PointLight {
            shadow_maps_enabled: true,
            ..default()
        };
        let seen = match number {
            0 => Visibility::Inherited,
            _ => Visibility::Hidden,
        };
        let place = Transform::from_xyz(0.0, 2.5, 1.0);
        app.world_mut().spawn((light, seen, place));
    }
    support::run(&mut app, 5);
    let lock = app
        .world()
        .resource::<bevy_throng::Throng>()
        .lock()
        .unwrap();
    assert_eq!(lock.view_stats().len(), 1 + 6);
    drop(lock);
    messages::expect_none();
}
