//! Normals and tangents under stretches, flips and scales of zero.

use crate::reference::blend::{ULP, entries, many, skinned, with_tangents};
use crate::reference::maths::{angle, dot, normal};
use crate::reference::methods::{direction, wide};
use crate::reference::rng::Rng;
use throng::glam::{Affine3A, Quat, Vec3, Vec4};
use throng::palette::{DualQuatStretch, Mat3x4};

/// Normals follow the inverse transpose, and tangents follow the matrix, both in `f64`.
///
/// The blends stretch, flip and shear.
#[test]
fn normals_and_tangents_follow_the_blended_matrix() {
    let mut rng = Rng::new(73);
    let mut checked = 0;
    for per_vertex in [1, 2, 4] {
        let character = many(300, per_vertex, &mut rng);
        let primitive = with_tangents(&character.primitives()[0]);
        for mirror in [1.0, -1.0] {
            let matrix = |rng: &mut Rng| {
                let scale = rng.vector(0.3, 2.0) * Vec3::new(mirror, 1.0, 1.0);
                let turn = Quat::from_axis_angle(rng.direction(), rng.range(-0.5, 0.5));
                let matrix = Affine3A::from_scale_rotation_translation(scale, turn, Vec3::X);
                Mat3x4::from_affine(&matrix)
            };
            let palette: Vec<Mat3x4> = (0..16).map(|_| matrix(&mut rng)).collect();
            let out = skinned(&character, &primitive, &palette);
            for vertex in 0..primitive.vertex_count() {
                let mut rows = [[0.0; 4]; 4];
                for (joint, weight) in primitive.influences(vertex) {
                    let entry = wide(&palette[joint].rows);
                    for (row, entry) in rows.iter_mut().zip(&entry) {
                        row.iter_mut()
                            .zip(entry)
                            .for_each(|(sum, v)| *sum += f64::from(weight) * v);
                    }
                }
                let array = |v: Vec3| v.to_array().map(f64::from);
                let Some(expected) = normal(&rows, array(primitive.normals[vertex])) else {
                    continue;
                };
                checked += 1;
                // The flattest matrices of the reference amplify rounding by about a hundred.
                assert!(angle(array(out.normals[vertex]), expected) < 400.0 * f64::from(ULP));
                let (base, got): (Vec4, Vec4) = (primitive.tangents[vertex], out.tangents[vertex]);
                let expected = direction(&rows, array(base.truncate())).unwrap();
                assert!(angle(array(got.truncate()), expected) < 400.0 * f64::from(ULP));
                // Flips within half a radian of each other stay flips.
                assert_eq!(got.w, base.w * mirror);
                let across = dot(array(out.normals[vertex]), array(got.truncate()));
                assert!(
                    across.abs() < 400.0 * f64::from(ULP),
                    "they stay perpendicular"
                );
            }
        }
    }
    assert!(checked > 1500, "{checked}");
}

#[test]
fn stretched_normals_are_those_of_the_matrix() {
    let mut rng = Rng::new(79);
    let character = many(300, 1, &mut rng);
    let primitive = with_tangents(&character.primitives()[0]);
    for _ in 0..10 {
        let matrix = |rng: &mut Rng| {
            Affine3A::from_scale_rotation_translation(rng.vector(0.3, 2.0), rng.rotation(), Vec3::X)
        };
        let matrices: Vec<Affine3A> = (0..16).map(|_| matrix(&mut rng)).collect();
        let a = skinned(&character, &primitive, &entries::<Mat3x4>(&matrices));
        let b = skinned(
            &character,
            &primitive,
            &entries::<DualQuatStretch>(&matrices),
        );
        for (a, b) in a.positions.iter().zip(&b.positions) {
            assert!(a.distance(*b) <= 4.0 * 40.0 * ULP);
        }
        let normals = a.normals.iter().zip(&b.normals);
        let tangents = a.tangents.iter().zip(&b.tangents);
        let tangents = tangents.map(|(a, b)| (a.truncate(), b.truncate()));
        for (a, b) in normals.map(|(a, b)| (*a, *b)).chain(tangents) {
            assert!(a.distance(b) <= 10.0 * 40.0 * ULP, "{a} {b}");
        }
    }
}

#[test]
fn zero_scales_leave_directions_finite() {
    let mut rng = Rng::new(83);
    let character = many(60, 2, &mut rng);
    let primitive = with_tangents(&character.primitives()[0]);
    for scale in [
        Vec3::ZERO,
        Vec3::new(0.0, 1.0, 1.0),
        Vec3::new(0.0, 0.0, -1.0),
        Vec3::splat(1e-35),
    ] {
        let matrix = Affine3A::from_scale_rotation_translation(scale, rng.rotation(), Vec3::Y);
        let out = skinned(&character, &primitive, &[Mat3x4::from_affine(&matrix); 16]);
        assert!(out.positions.iter().all(|p| p.is_finite()));
        assert!(out.normals.iter().all(|n| n.is_normalized()), "{scale}");
        assert!(
            out.tangents.iter().all(|t| t.truncate().is_normalized()),
            "{scale}"
        );
        if scale == Vec3::ZERO {
            assert_eq!(
                (out.normals, out.tangents),
                (primitive.normals.clone(), primitive.tangents.clone())
            );
        }
    }
}
