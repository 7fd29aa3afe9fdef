//! People in Bevy's pictures.

use crate::support::{self, camera, mannequin, mesh, messages, person, picture, sun};
use bevy::prelude::*;

#[test]
fn people_stand_among_boxes() {
    let mut app = support::app();
    camera(&mut app, Vec3::new(0.0, 2.2, 5.0), Vec3::new(0.0, 0.8, 0.0));
    sun(&mut app);
    mesh(
        &mut app,
        Plane3d::default().mesh().size(30.0, 30.0),
        Color::srgb(0.45, 0.5, 0.4),
        Transform::IDENTITY,
    );
    let place = Transform::from_xyz(0.6, 0.5, 0.6);
    mesh(
        &mut app,
        Cuboid::new(0.6, 1.0, 0.6),
        Color::srgb(0.7, 0.4, 0.3),
        place,
    );
    let character = mannequin(&mut app);
    for x in [-1.2, 0.0, 1.2] {
        person(&mut app, &character, "Walk", Vec3::new(x, 0.0, 0.0));
    }
    let people = picture(&mut app, 10);
    support::save("people.png", &people);
    messages::expect_none();
}
