//! The shaded vertices of a report against counts by hand, and against plain code.

use crate::reference::raws;
use crate::reference::raws::{linear, node};
use crate::reference::rng::Rng;
use throng::glam::Vec3;
use throng::import::{
    GeometryReport, ImportOptions, RawAnimation, RawCharacter, RawKeys, RawPrimitive,
};
use throng::mesh::Material;
use throng::skeleton::Transform;

/// The number of shaded vertices of a mesh whose triangles keep their order.
fn run(vertices: u32, indices: Vec<u32>) -> (u64, Vec<u32>) {
    let positions = (0..vertices).map(|at| Vec3::new(at as f32, (at * at) as f32, 1.0));
    let mesh = RawPrimitive {
        positions: positions.collect(),
        indices,
        ..RawPrimitive::default()
    };
    let options = ImportOptions {
        keep_order: true,
        ..ImportOptions::default()
    };
    let raw = RawCharacter::rigid("mesh", vec![mesh], vec![Material::default()]);
    let built = raw.build(&options).unwrap();
    let indices = built.primitives()[0].indices.clone();
    (built.geometry.shaded_vertices, indices)
}

#[test]
fn counts_by_hand() {
    let shaded = |indices: &[u32]| run(34, indices.to_vec()).0;
    assert_eq!(shaded(&[0, 1, 2]), 3);
    assert_eq!(shaded(&[0, 1, 2, 2, 1, 3]), 4, "an edge is shared");
    // The queue holds 32 vertices: 0 is still there after 31 others, and gone after 32.
    let then = |count: u32, last: [u32; 3]| (0..count).chain(last).collect::<Vec<_>>();
    assert_eq!(shaded(&then(30, [30, 31, 0])), 32);
    assert_eq!(shaded(&then(30, [0, 1, 2])), 30);
    assert_eq!(shaded(&then(33, [0, 1, 2])), 36, "each pushes the next out");
    // A hit does not move a vertex to the end of the queue, so 0 is the first to leave.
    let mut indices = then(30, [30, 31, 0]);
    indices.extend([32, 1, 2]);
    assert_eq!(shaded(&indices), 33, "1 is the next");
    indices.extend([0, 2, 3]);
    assert_eq!(shaded(&indices), 34, "0 pushed 1 out");
}

#[test]
fn agrees_with_a_list_that_is_shifted() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let most = 8 << (seed % 4);
        let indices: Vec<u32> = (0..3000).map(|_| rng.below(most) as u32).collect();
        let (found, indices) = run(most as u32, indices);
        let (mut queue, mut shaded) = (Vec::new(), 0);
        for index in &indices {
            if !queue.contains(index) {
                queue.insert(0, *index);
                queue.truncate(32);
                shaded += 1;
            }
        }
        assert!(!indices.is_empty());
        assert_eq!(found, shaded, "seed {seed}");
    }
}

/// Every draw starts with an empty queue, and vertices of two draws are shaded in both.
#[test]
fn a_character_adds_up_its_draws() {
    let cube = RawPrimitive::cuboid(Vec3::ONE);
    let twice = vec![cube.clone(), cube];
    let raw = RawCharacter::rigid("two", twice, vec![Material::default()]);
    let two = raw.build(&ImportOptions::default()).unwrap();
    let expected = GeometryReport {
        vertices: 48,
        file_shaded_vertices: 48,
        shaded_vertices: 48,
        draws: 2,
        ..GeometryReport::default()
    };
    assert_eq!(two.geometry, expected);
    let person = throng::builtin::mannequin().unwrap();
    assert_eq!(
        person.geometry.draws, 2,
        "of the rigid triangles and others"
    );
    let nothing = RawCharacter::from_skeleton(person.skeleton());
    let nothing = nothing.build(&ImportOptions::default()).unwrap();
    assert_eq!(nothing.geometry, GeometryReport::default());
}

/// Triangles that a clip flips are drawn with either front face.
#[test]
fn what_flips_is_drawn_twice() {
    let cube = RawPrimitive::cuboid(Vec3::ONE);
    let mut raw = RawCharacter::rigid("box", vec![cube], vec![Material::default()]);
    let flip = RawKeys::Scale(vec![Vec3::ONE, Vec3::new(-1.0, 1.0, 1.0)]);
    raw.animations = vec![RawAnimation {
        channels: vec![linear(0, [0.0, 1.0], flip)],
        ..RawAnimation::default()
    }];
    let flipping = raw.build(&ImportOptions::default()).unwrap();
    let expected = GeometryReport {
        vertices: 24,
        // No clip counts here.
        file_shaded_vertices: 24,
        shaded_vertices: 48,
        draws: 2,
        ..GeometryReport::default()
    };
    assert_eq!(flipping.geometry, expected);
}

/// A character with these triangles. Vertices below `rigid` follow one joint, others four.
fn partly_rigid(rigid: u32, vertices: u32, indices: Vec<u32>) -> RawCharacter {
    let joint = |name: u32| node(name.to_string(), None, Transform::IDENTITY);
    let weights = |vertex| match vertex < rigid {
        true => [1.0, 0.0, 0.0, 0.0],
        false => [0.25; 4],
    };
    RawCharacter {
        nodes: (0..4).map(joint).collect(),
        skins: vec![raws::skin(0..4, Vec::new())],
        primitives: vec![RawPrimitive {
            skin: Some(0),
            positions: (0..vertices)
                .map(|at| Vec3::new(at as f32, 0.0, 1.0))
                .collect(),
            influences_per_vertex: 4,
            joints: [0, 1, 2, 3].repeat(vertices as usize),
            weights: (0..vertices).flat_map(weights).collect(),
            indices,
            ..RawPrimitive::default()
        }],
        ..RawCharacter::default()
    }
}

/// A vertex takes 16 loads with four influences and 7 with one. A second draw saves at least 1/32
/// of all loads, or there is none.
#[test]
fn rigid_triangles_have_a_draw_if_that_saves_loads() {
    let draws = |rigid, vertices, indices: &[u32]| {
        let raw = partly_rigid(rigid, vertices, indices.to_vec());
        raw.build(&ImportOptions::default()).unwrap().geometry.draws
    };
    let apart = |triangles: u32| draws(3, triangles * 3, &(0..triangles * 3).collect::<Vec<_>>());
    assert_eq!(apart(18), 2, "saves 27 of 864 loads, which is 1/32");
    assert_eq!(apart(19), 1, "saves 27 of 912 loads");
    assert_eq!(draws(6, 6, &[0, 1, 2, 3, 4, 5]), 1, "all are rigid");
    assert_eq!(draws(0, 6, &[0, 1, 2, 3, 4, 5]), 1, "none is");
    // Two vertices would save 18, and shading the third twice costs 7.
    assert_eq!(draws(3, 5, &[0, 1, 2, 2, 3, 4]), 2);
    // One vertex would save 9, and shading two twice costs 14.
    assert_eq!(draws(3, 4, &[0, 1, 2, 2, 1, 3]), 1);
}
