//! `shaded_vertices` against counts by hand, and against plain code.

use crate::reference::rng::Rng;
use throng::import::{ImportOptions, RawCharacter, RawPrimitive};
use throng::mesh::{Material, VertexReuse, shaded_vertices};

/// Indices as points, so that each is fetched once.
fn run(indices: impl IntoIterator<Item = u32>) -> u64 {
    shaded_vertices(&indices.into_iter().collect::<Vec<_>>())
}

#[test]
fn counts_by_hand() {
    assert_eq!(run([]), 0);
    assert_eq!(run([0, 1, 2]), 3);
    assert_eq!(run([0, 1, 2, 2, 1, 3]), 4, "an edge is shared");
    assert_eq!(run([7, 7, 7]), 1, "a degenerate triangle");
    assert_eq!(run([u32::MAX, 0, u32::MAX]), 2, "no index is special");
    // The queue holds 32 vertices: 0 is still there after 31 others, and gone after 32.
    assert_eq!(run((0..32).chain([0])), 32);
    assert_eq!(run((0..33).chain([0])), 34);
    // A hit does not move a vertex to the end of the queue, so 0 is the first to leave.
    assert_eq!(run((0..32).chain([0, 32, 0])), 34);
    assert_eq!(run((0..32).chain([0, 32, 1])), 33, "1 is the next");
    assert_eq!(run((0..32).chain([0, 32, 0, 1])), 35, "0 pushed 1 out");
}

#[test]
fn agrees_with_a_list_that_is_shifted() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let most = 8 << (seed % 4);
        let indices: Vec<u32> = (0..3000).map(|_| rng.below(most) as u32).collect();
        let (mut queue, mut shaded) = (Vec::new(), 0);
        for index in &indices {
            if !queue.contains(index) {
                queue.insert(0, *index);
                queue.truncate(32);
                shaded += 1;
            }
        }
        assert_eq!(shaded_vertices(&indices), shaded, "seed {seed}");
    }
}

#[test]
fn a_ratio_without_vertices_is_zero() {
    assert_eq!(VertexReuse::default().ratio(), 0.0);
    let reuse = VertexReuse {
        shaded: 7,
        vertices: 4,
    };
    assert_eq!(reuse.ratio(), 1.75);
}

/// Every draw starts with an empty queue, and vertices of two draws are shaded in both.
#[test]
fn a_character_adds_up_its_draws() {
    let cube = RawPrimitive::cuboid(throng::glam::Vec3::ONE);
    let twice = vec![cube.clone(), cube];
    let raw = RawCharacter::rigid("two", twice, vec![Material::default()]);
    let two = raw.build(&ImportOptions::default()).unwrap();
    assert_eq!(two.draw_count(), 2);
    let expected = VertexReuse {
        shaded: 48,
        vertices: 48,
    };
    assert_eq!(two.vertex_reuse(), expected);
    let person = throng::builtin::mannequin().unwrap();
    assert_eq!(person.draw_count(), 2, "of the rigid triangles and others");
    let nothing = RawCharacter::from_skeleton(person.skeleton());
    let nothing = nothing.build(&ImportOptions::default()).unwrap();
    assert_eq!(nothing.draw_count(), 0);
    assert_eq!(nothing.vertex_reuse(), VertexReuse::default());
}
