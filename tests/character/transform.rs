//! `Transform::from_affine`: matrices into translation, rotation and scale.

use crate::reference::rng::Rng;
use throng::glam::{Affine3A, Mat3A, Vec3, Vec3A};
use throng::skeleton::Transform;

fn largest_difference(a: &Affine3A, b: &Affine3A) -> f32 {
    let pairs = a.to_cols_array().into_iter().zip(b.to_cols_array());
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

fn affine(scale: Vec3, rng: &mut Rng) -> Affine3A {
    Affine3A::from_scale_rotation_translation(scale, rng.rotation(), rng.vector(-5.0, 5.0))
}

/// The transform's matrix is the one it was made from.
fn check(matrix: &Affine3A) -> Transform {
    let found = Transform::from_affine(matrix, 1e-5).unwrap_or_else(|| panic!("{matrix:?}"));
    assert!(found.rotation.is_normalized());
    let size = matrix
        .matrix3
        .to_cols_array()
        .into_iter()
        .fold(0.0, |m: f32, v| m.max(v.abs()));
    let difference = largest_difference(&found.to_affine(), matrix);
    assert!(
        difference <= 1e-6 * size,
        "{matrix:?} {found:?}: {difference}"
    );
    found
}

#[test]
fn round_trips() {
    let mut rng = Rng::new(31);
    for _ in 0..2000 {
        let found = check(&affine(rng.vector(0.1, 3.0), &mut rng));
        assert!(found.scale.min_element() > 0.0);
    }
    assert_eq!(
        Transform::from_affine(&Affine3A::IDENTITY, 0.0),
        Some(Transform::IDENTITY)
    );
}

#[test]
fn mirrors_round_trip() {
    let mut rng = Rng::new(37);
    for signs in 1..8 {
        for _ in 0..200 {
            let mut scale = rng.vector(0.1, 3.0);
            for axis in 0..3 {
                if signs >> axis & 1 == 1 {
                    scale[axis] = -scale[axis];
                }
            }
            let found = check(&affine(scale, &mut rng));
            let mirrored = found.scale.to_array().iter().product::<f32>() < 0.0;
            assert_eq!(mirrored, scale.to_array().iter().product::<f32>() < 0.0);
        }
    }
}

#[test]
fn axes_of_no_length_round_trip() {
    let mut rng = Rng::new(41);
    for flat in 1..8 {
        for _ in 0..200 {
            let mut scale = rng.vector(0.1, 3.0);
            for axis in 0..3 {
                if flat >> axis & 1 == 1 {
                    scale[axis] = 0.0;
                }
                if rng.chance(3) {
                    scale[axis] = -scale[axis];
                }
            }
            let found = check(&affine(scale, &mut rng));
            for axis in 0..3 {
                assert_eq!(found.scale[axis] == 0.0, scale[axis] == 0.0);
            }
        }
    }
}

#[test]
fn sizes_far_from_one_round_trip() {
    let mut rng = Rng::new(43);
    for size in [1e-12, 1e-6, 1e6, 1e12] {
        for _ in 0..100 {
            let scale = rng.vector(0.5, 2.0) * size;
            let mut matrix = affine(scale, &mut rng);
            matrix.translation *= size;
            check(&matrix);
        }
    }
}

#[test]
fn shear_is_refused() {
    let mut rng = Rng::new(47);
    for _ in 0..500 {
        let (scale, turn) = (rng.vector(0.5, 2.0), rng.rotation());
        let shear = rng.range(0.01, 1.0);
        let mut matrix = Affine3A::from_scale(scale);
        matrix.matrix3 *= Mat3A::from_cols(Vec3A::X, Vec3A::new(shear, 1.0, 0.0), Vec3A::Z);
        let matrix = Affine3A::from_quat(turn) * matrix;
        assert_eq!(Transform::from_affine(&matrix, 1e-3), None);
    }
}

#[test]
fn what_is_not_finite_is_refused() {
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for at in 0..12 {
            let mut columns = Affine3A::IDENTITY.to_cols_array();
            columns[at] = value;
            let matrix = Affine3A::from_cols_array(&columns);
            assert_eq!(
                Transform::from_affine(&matrix, 1e-3),
                None,
                "{value} at {at}"
            );
        }
    }
}
