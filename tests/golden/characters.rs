//! The characters and the plaza of the example `crowd`.

use throng::glam::{Vec2, Vec3};

use super::args;
use super::crowd::layout::Motion;
use super::crowd::people::KINDS;
use super::crowd::show;

/// Every character has triangles that face outwards, and coarser levels with known errors.
#[test]
fn characters_are_whole() {
    let plain = throng::builtin::mannequin().expect("a character").character;
    let mut seen = vec![plain.primitives()[0].positions.clone()];
    for kind in &KINDS {
        let character = kind.character().expect("a character");
        let primitive = &character.primitives()[0];
        for triangle in primitive.indices.chunks_exact(3) {
            let at = |corner: usize| triangle[corner] as usize;
            let [a, b, c] = [0, 1, 2].map(|corner| primitive.positions[at(corner)]);
            let facing = (b - a).cross(c - a).normalize_or_zero();
            let normals: Vec3 = (0..3).map(|corner| primitive.normals[at(corner)]).sum();
            assert!(facing.dot(normals) > 0.0, "{}: {a} {b} {c}", kind.name);
        }
        assert_eq!(
            character.levels().len(),
            plain.levels().len(),
            "{}",
            kind.name
        );
        let errors: Vec<f32> = character.levels().map(|level| level.error_m).collect();
        assert!(
            errors.iter().all(|error| (0.001..1.0).contains(error)),
            "{errors:?}"
        );
        assert!(
            !seen.contains(&primitive.positions) || kind.height < 0.8,
            "{}",
            kind.name
        );
        seen.push(primitive.positions.clone());
    }
}

/// On a plaza, nobody stands in the way of those who walk, and groups do not touch.
#[test]
fn a_plaza_has_room_for_all() {
    let few = show::scene(&args(&["--instances", "1000"])).expect("a scene");
    assert!(!few.layout().is_plaza);
    let scene = show::scene(&args(&["--instances", "1500", "--characters", "2"]));
    let scene = scene.expect("a scene");
    let layout = scene.layout();
    assert!(layout.is_plaza);
    let standing = layout
        .persons
        .iter()
        .filter_map(|person| match person.motion {
            Motion::Stands { at, .. } => Some((at, person.radius_m)),
            Motion::Travels { .. } => None,
        });
    let standing: Vec<(Vec2, f32)> = standing.collect();
    assert!(
        standing.len() > 500 && standing.len() < 900,
        "{}",
        standing.len()
    );
    let lanes: Vec<Vec2> = layout
        .lanes
        .iter()
        .flat_map(|lane| lane.edge(0.0))
        .collect();
    for (number, (at, radius_m)) in standing.iter().enumerate() {
        let nearest_m = lanes
            .iter()
            .map(|lane| lane.distance(*at))
            .fold(f32::MAX, f32::min);
        assert!(nearest_m > *radius_m, "{at} is {nearest_m} m beside a lane");
        for (other, other_m) in &standing[..number] {
            let apart_m = at.distance(*other);
            assert!(
                apart_m > radius_m.max(*other_m),
                "{at} and {other}: {apart_m} m"
            );
        }
    }
}
