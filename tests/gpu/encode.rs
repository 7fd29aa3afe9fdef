//! Vertex streams and morph targets as the shaders read them.

use throng::glam::{Vec3, Vec4};
use throng::gpu::{morph_mask, narrow_weights, octahedral_word, tangent_word};
use throng::mesh::MorphTarget;

/// Decodes as `throng_octahedral` does.
fn unfold(x: f32, y: f32) -> Vec3 {
    let z = 1.0 - x.abs() - y.abs();
    let fold = (-z).max(0.0);
    let unfold = |v: f32| if v >= 0.0 { v - fold } else { v + fold };
    Vec3::new(unfold(x), unfold(y), z).normalize()
}

fn unpack(bits: u32) -> f32 {
    (f32::from((bits as u16).cast_signed()) / 32767.0).max(-1.0)
}

/// Decodes as `throng_normal` does.
fn decode(word: u32) -> Vec3 {
    unfold(unpack(word & 0xFFFF), unpack(word >> 16))
}

/// Decodes as `throng_tangent` does.
fn decode_tangent(word: u32) -> Vec4 {
    let x = (f32::from((word as u16).cast_signed() >> 1) / 16383.0).max(-1.0);
    let sign = if word & 1 != 0 { -1.0 } else { 1.0 };
    unfold(x, unpack(word >> 16)).extend(sign)
}

/// A Fibonacci sphere.
fn directions() -> impl Iterator<Item = Vec3> {
    (0..10_000_u32).map(|i| {
        let z = 1.0 - 2.0 * (i as f32 + 0.5) / 10_000.0;
        let (sin, cos) = (i as f32 * 2.399_963_1).sin_cos();
        let r = (1.0 - z * z).sqrt();
        Vec3::new(r * cos, r * sin, z)
    })
}

const AXES: [Vec3; 6] = [
    Vec3::X,
    Vec3::NEG_X,
    Vec3::Y,
    Vec3::NEG_Y,
    Vec3::Z,
    Vec3::NEG_Z,
];

#[test]
fn weights_take_eight_bits_only_where_they_fit_exactly() {
    assert_eq!(
        narrow_weights(&[65_535, 0, 257, 65_278]),
        Some(vec![255, 0, 1, 254])
    );
    assert_eq!(narrow_weights(&[65_534, 1]), None);
    assert_eq!(narrow_weights(&[]), None);
}

#[test]
fn normals_survive_to_within_a_few_thousandths_of_a_degree() {
    let worst = directions()
        .map(|n| n.cross(decode(octahedral_word(n))).length())
        .fold(0.0, f32::max);
    // One step of 1/32767 on the octahedron rotates a normal by at most about 1e-4 / sqrt(2).
    assert!(worst < 8e-5, "{worst}");
    for axis in AXES {
        assert_eq!(decode(octahedral_word(axis)), axis);
    }
}

#[test]
fn tangents_survive_with_their_sign() {
    for sign in [1.0, -1.0] {
        let worst = directions()
            .map(|t| (t, decode_tangent(tangent_word(t.extend(sign)))))
            .inspect(|(_, decoded)| assert_eq!(decoded.w, sign))
            .map(|(t, decoded)| t.cross(decoded.truncate()).length())
            .fold(0.0, f32::max);
        // The step is twice as large in one of the two coordinates.
        assert!(worst < 1.4e-4, "{worst}");
        for axis in AXES {
            assert_eq!(
                decode_tangent(tangent_word(axis.extend(sign))),
                axis.extend(sign)
            );
        }
    }
}

#[test]
fn masks_count_what_came_before() {
    let target = MorphTarget {
        vertices: vec![0, 31, 32, 70],
        ..MorphTarget::default()
    };
    let words = morph_mask(&target, 71);
    assert_eq!(words, [1 | 1 << 31, 0, 1, 2, 1 << 6, 3]);
}
