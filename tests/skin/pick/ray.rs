//! Rays against a single triangle, and along the axes at the sides of its box.

use crate::reference::raws::node;
use throng::character::Character;
use throng::glam::Vec3;
use throng::import::{RawCharacter, RawPrimitive};
use throng::palette::Mat3x4;
use throng::skeleton::Transform;
use throng::skin::{CullMode, Hit, Posed, Ray, Skinner};

const TRIANGLE: [Vec3; 3] = [
    Vec3::new(0.0, 0.0, 5.0),
    Vec3::new(0.0, 1.0, 5.0),
    Vec3::new(1.0, 0.0, 5.0),
];

fn triangle(corners: [Vec3; 3]) -> Character {
    let raw = RawCharacter {
        nodes: vec![node("", None, Transform::IDENTITY)],
        primitives: vec![RawPrimitive {
            positions: corners.into(),
            indices: vec![0, 1, 2],
            ..RawPrimitive::default()
        }],
        ..RawCharacter::default()
    };
    raw.build(&Default::default()).unwrap().character
}

fn hit(corners: [Vec3; 3], origin: Vec3, direction: Vec3) -> Option<Hit> {
    let character = triangle(corners);
    let skinner = Skinner::new(&character).unwrap();
    let palette = [Mat3x4::IDENTITY];
    let posed = Posed::new(&character, &skinner, &palette, &[]);
    posed
        .pick(&Ray { origin, direction }, CullMode::None)
        .unwrap()
}

#[test]
fn fronts_are_counter_clockwise() {
    let origin = Vec3::new(0.25, 0.25, 0.0);
    let front = hit(TRIANGLE, origin, Vec3::Z).unwrap();
    assert_eq!((front.distance, front.back_face), (5.0, false));
    assert_eq!(front.barycentrics, [0.5, 0.25, 0.25]);
    let [a, b, c] = TRIANGLE;
    assert!(hit([a, c, b], origin, Vec3::Z).unwrap().back_face);
    let back = hit(TRIANGLE, Vec3::new(0.25, 0.25, 9.0), Vec3::NEG_Z).unwrap();
    assert_eq!((back.distance, back.back_face), (4.0, true));
}

#[test]
fn what_lies_behind_or_has_no_area_is_not_hit() {
    let [a, b, _] = TRIANGLE;
    assert_eq!(hit(TRIANGLE, Vec3::new(0.25, 0.25, 6.0), Vec3::Z), None);
    for degenerate in [[a, a, a], [a, a, b], [a, b, (a + b) * 0.5]] {
        assert_eq!(hit(degenerate, Vec3::ZERO, Vec3::Z), None);
    }
}

/// The box of the triangle has no depth, and these rays run along its sides or past them.
#[test]
fn rays_along_an_axis_hit_up_to_the_edge() {
    let from = |x: f32, direction| hit(TRIANGLE, Vec3::new(x, 0.0, 0.0), direction).is_some();
    assert!(from(1.0, Vec3::Z) && !from(1.001, Vec3::Z));
    assert!(!from(0.0, Vec3::NEG_Z));
    assert!(from(-4.5, Vec3::new(1.0, 0.0, 1.0)));
    assert!(!from(-4.5, Vec3::new(1.0, 0.5, 1.0)));
}
