//! Levels of meshes that no tool would make: the work is bounded, and errors still hold.

use crate::reference::rng::Rng;
use crate::reference::surface::distance;
use throng::character::{Character, LevelOptions};
use throng::glam::Vec3;
use throng::import::RawPrimitive;
use throng::mesh::Material;

fn character(positions: Vec<Vec3>, indices: Vec<u32>) -> Character {
    let raw = RawPrimitive {
        positions,
        indices,
        ..RawPrimitive::default()
    };
    raw.build_rigid(Material::default()).unwrap().character
}

fn random_point(rng: &mut Rng) -> Vec3 {
    Vec3::from_array(core::array::from_fn(|_| rng.range(0.0, 1.0)))
}

/// Large triangles that lie across each other, so most of their boxes overlap.
fn soup(triangles: u32) -> Character {
    let mut rng = Rng::new(99);
    let positions = (0..3 * triangles).map(|_| random_point(&mut rng));
    character(positions.collect(), (0..3 * triangles).collect())
}

/// One large level.
fn large_level() -> LevelOptions {
    LevelOptions {
        ratio: 0.6,
        fewest_triangles: 3500,
        max_error: 1.0,
        ..LevelOptions::default()
    }
}

/// Checks that no vertex of a sample is farther from a level than its error.
fn expect_errors_hold(character: &Character) {
    let mut rng = Rng::new(7);
    for primitive in character.primitives() {
        let place = |index: u32| primitive.positions[index as usize];
        for _ in 0..200 {
            let vertex = place(primitive.indices[rng.below(primitive.indices.len())]);
            for level in &primitive.levels {
                let triangles = level.indices.as_chunks::<3>().0.iter();
                let distances = triangles.map(|corners| distance(vertex, corners.map(place)));
                let nearest = distances.fold(f32::INFINITY, f32::min);
                let most = level.error_m;
                assert!(
                    nearest <= most,
                    "{nearest} m from a level of error {most} m"
                );
            }
        }
    }
}

/// A search for the nearest point of a level ends early here, with a point that is farther away.
#[test]
fn errors_of_overlapping_triangles_hold() {
    let (made, kept) = soup(6000).with_levels(&large_level()).unwrap();
    assert!(made.levels().len() > 0 && kept.is_empty());
    expect_errors_hold(&made);
}

/// The work of a simplifier grows with the square or cube of the triangles at one vertex.
#[test]
fn many_triangles_at_one_vertex_are_kept() {
    const COUNT: u32 = 4000;
    let mut rng = Rng::new(5);
    let corners = [Vec3::ZERO, Vec3::X, Vec3::Y];
    let same = character(corners.to_vec(), [0, 1, 2].repeat(COUNT as usize));
    let around: Vec<Vec3> = (0..COUNT).map(|_| random_point(&mut rng)).collect();
    let edge = character(
        [&corners[..2], &around].concat(),
        (2..COUNT + 2).flat_map(|corner| [0, 1, corner]).collect(),
    );
    for (name, whole) in [("same", same), ("edge", edge)] {
        let (made, kept) = whole.clone().with_levels(&LevelOptions::default()).unwrap();
        assert_eq!(kept, [(0, "it takes too much memory or time")], "{name}");
        // A mesh of its own may do.
        let [primitive, ..] = made.primitives() else {
            panic!("{name}: no primitive");
        };
        assert_eq!(primitive.indices.len(), whole.primitives()[0].indices.len());
        let mut levels = primitive.levels.iter();
        assert!(levels.all(|level| level.indices.is_empty()), "{name}");
    }
}
