//! The skin stage: linear blending of positions and normals.

use crate::reference::raws::node;
use crate::reference::rig::chain;
use crate::reference::rng::Rng;
use throng::character::Character;
use throng::glam::{Affine3A, Mat3, Quat, Vec3};
use throng::import::{ImportOptions, RawCharacter, RawPrimitive};
use throng::palette::Mat3x4;
use throng::skin::PosedVertices;

fn entry(scale: Vec3, rotation: Quat, translation: Vec3) -> Mat3x4 {
    let affine = Affine3A::from_scale_rotation_translation(scale, rotation, translation);
    Mat3x4::from_affine(&affine)
}

fn skinned(character: &Character, palette: &[Mat3x4]) -> PosedVertices {
    let mut out = PosedVertices::default();
    character
        .skin_primitive(&character.primitives()[0], palette, &[], &mut out)
        .unwrap();
    out
}

/// Two rigid triangles with normals, on one joint.
fn rigid(normal: Vec3) -> Character {
    let raw = RawCharacter {
        nodes: vec![node("joint", None, throng::skeleton::Transform::IDENTITY)],
        primitives: vec![RawPrimitive {
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(0.3, 0.7, -0.9)],
            normals: vec![normal; 4],
            indices: vec![0, 1, 2, 1, 2, 3],
            ..RawPrimitive::default()
        }],
        ..RawCharacter::default()
    };
    raw.build(&ImportOptions::curves_only()).unwrap().character
}

#[test]
fn the_identity_changes_nothing() {
    let character = rigid(Vec3::Z);
    let out = skinned(&character, &[Mat3x4::IDENTITY]);
    assert_eq!(out.positions, character.primitives()[0].positions);
    assert_eq!(out.normals, character.primitives()[0].normals);
    // 32,767 and 32,768 parts in 65,535 are not exact in `f32`.
    let character = chain(5);
    let out = skinned(&character, &[Mat3x4::IDENTITY; 5]);
    assert_eq!(out.positions, character.primitives()[0].positions);
    assert_eq!(out.normals, character.primitives()[0].normals);
}

#[test]
fn vertices_between_joints_are_blended() {
    let character = chain(2);
    let moved = entry(Vec3::ONE, Quat::IDENTITY, Vec3::new(2.0, 0.0, 0.0));
    let out = skinned(&character, &[Mat3x4::IDENTITY, moved]);
    let expected = [(0.25, 0.0), (1.25, 0.5), (2.25, 1.0)];
    for (got, (x, y)) in out.positions.iter().zip(expected) {
        // A weight of a half has an error of up to half of 1/65,535, over two metres.
        assert!(
            got.abs_diff_eq(Vec3::new(x, y, 0.0), 2.0 / 65_535.0),
            "{got}"
        );
    }
}

#[test]
fn output_is_overwritten() {
    let (long, short) = (chain(9), rigid(Vec3::Z));
    let mut out = skinned(&long, &[Mat3x4::IDENTITY; 9]);
    short
        .skin_primitive(&short.primitives()[0], &[Mat3x4::IDENTITY], &[], &mut out)
        .unwrap();
    assert_eq!(out, skinned(&short, &[Mat3x4::IDENTITY]));
}

/// The image of a normal is perpendicular to the image of its plane, on the front side.
///
/// The front is the side after the winding of a flipped triangle is reversed.
#[test]
fn normals_stand_on_the_deformed_surface() {
    let mut rng = Rng::new(23);
    for _ in 0..500 {
        let normal = rng.direction();
        let along = normal.any_orthonormal_vector();
        let across = normal.cross(along);
        let mut scale = rng.vector(0.2, 2.0);
        for axis in 0..3 {
            scale[axis] *= if rng.chance(2) { -1.0 } else { 1.0 };
        }
        let squeeze = Affine3A::from_quat(rng.rotation()) * Affine3A::from_scale(scale);
        let matrix = squeeze * Affine3A::from_quat(rng.rotation());
        let out = skinned(&rigid(normal), &[Mat3x4::from_affine(&matrix)]);
        let linear = Mat3::from(matrix.matrix3);
        let mirror = linear.determinant().signum();
        let expected = (linear * along).cross(linear * across).normalize() * mirror;
        for got in out.normals {
            assert!(got.is_normalized());
            assert!(got.dot(expected) > 0.99999, "{got} {expected}");
        }
    }
}

#[test]
fn normals_stay_finite_in_flat_and_extreme_matrices() {
    let scales = [
        Vec3::new(1.0, 1.0, 0.0),
        Vec3::new(1.0, 0.0, 0.0),
        Vec3::ZERO,
        Vec3::splat(1e-30),
        Vec3::splat(1e30),
        Vec3::new(1e-20, 1.0, 1e20),
        Vec3::new(-1.0, 1.0, 0.0),
    ];
    let mut rng = Rng::new(29);
    for scale in scales {
        for _ in 0..50 {
            let matrix = entry(scale, rng.rotation(), Vec3::ZERO);
            for got in skinned(&rigid(rng.direction()), &[matrix]).normals {
                assert!(got.is_normalized(), "{scale}: {got}");
            }
        }
    }
    // A flattened triangle keeps the normal of the plane that it is flattened into.
    let flat = entry(Vec3::new(1.0, 1.0, 0.0), Quat::IDENTITY, Vec3::ZERO);
    let tilted = Vec3::new(0.6, 0.0, 0.8);
    assert_eq!(skinned(&rigid(tilted), &[flat]).normals[0], Vec3::Z);
    let _: Affine3A = flat.to_affine();
}
