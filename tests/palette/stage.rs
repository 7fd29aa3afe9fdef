//! The palette stage: local pose → model pose → skinning matrices, and bounds.

use crate::reference::poser::Poser;
use crate::reference::raws;
use crate::reference::raws::node;
use crate::reference::rig::chain;
use crate::reference::rng::Rng;
use throng::Error;
use throng::character::Character;
use throng::error::ArgumentFault;
use throng::glam::{Affine3A, Quat, Vec3};
use throng::import::{ImportOptions, RawCharacter, RawPrimitive};
use throng::palette::{Mat3x4, WriteOnly};
use throng::skeleton::Transform;
use throng::skin::PosedVertices;

fn length(what: &'static str, got: usize, need: usize) -> Error {
    Error::Argument {
        what,
        why: ArgumentFault::Length { got, need },
    }
}

fn random_affine(rng: &mut Rng) -> Affine3A {
    let scale = rng.vector(-2.0, 2.0);
    Affine3A::from_scale_rotation_translation(scale, rng.rotation(), rng.vector(-9.0, 9.0))
}

#[test]
fn lengths_must_match_and_nothing_is_written_otherwise() {
    let character = chain(3);
    let skeleton = character.skeleton();
    let mut model = [Affine3A::IDENTITY; 3];
    let local = [Transform {
        scale: Vec3::ZERO,
        ..Transform::IDENTITY
    }; 4];
    for count in [0, 2, 4] {
        let error = skeleton
            .model_pose(&local[..count], &mut model)
            .unwrap_err();
        assert_eq!(error, length("local pose", count, 3));
    }
    let error = skeleton
        .model_pose(&local[..3], &mut model[..2])
        .unwrap_err();
    assert_eq!(error, length("model pose", 2, 3));
    assert_eq!(model, [Affine3A::IDENTITY; 3]);

    let mut out = [Mat3x4::IDENTITY; 4];
    let error = character
        .write_palette(&model[..2], WriteOnly::from(&mut out[..3]))
        .unwrap_err();
    assert_eq!(error, length("model pose", 2, 3));
    for count in [2, 4] {
        let view = WriteOnly::from(&mut out[..count]);
        let error = character.write_palette(&model, view).unwrap_err();
        assert_eq!(error, length("palette", count, 3));
    }
    assert_eq!(out, [Mat3x4::IDENTITY; 4]);
    let error = character.posed_bounds(&out, None).unwrap_err();
    assert_eq!(error, length("palette", 4, 3));
    let primitive = &character.primitives()[0];
    let error = character
        .skin_primitive(primitive, &out[..2], &[], &mut PosedVertices::default())
        .unwrap_err();
    assert_eq!(error, length("palette", 2, 3));
}

#[test]
fn children_follow_their_parents() {
    let character = chain(4);
    let quarter = Quat::from_xyzw(
        0.0,
        0.0,
        std::f32::consts::FRAC_1_SQRT_2,
        std::f32::consts::FRAC_1_SQRT_2,
    );
    let turned = raws::transform(Vec3::Y, quarter, Vec3::splat(2.0));
    let mut model = [Affine3A::IDENTITY; 4];
    character
        .skeleton()
        .model_pose(&[turned; 4], &mut model)
        .unwrap();
    let expected = [(0.0, 1.0), (-2.0, 1.0), (-2.0, -3.0), (6.0, -3.0)];
    for (joint, (x, y)) in model.iter().zip(expected) {
        let at = Vec3::from(joint.translation);
        assert!(at.abs_diff_eq(Vec3::new(x, y, 0.0), 4e-6), "{at}");
    }
}

#[test]
fn rest_pose_gives_the_identity() {
    let character = chain(5);
    let nothing = Mat3x4 {
        rows: [[0.0; 4]; 3],
    };
    let mut entries = [nothing; 5];
    let mut poser = Poser::new();
    poser
        .palette(&character, None, WriteOnly::from(&mut entries))
        .unwrap();
    assert_eq!(entries, [Mat3x4::IDENTITY; 5]);
    assert_eq!(poser.local().len(), 5);
    assert_eq!(poser.model()[4].translation.y, 4.0);
}

#[test]
fn the_layout_holds_what_the_matrix_says() {
    assert_eq!((size_of::<Mat3x4>(), align_of::<Mat3x4>()), (48, 16));
    let mut rng = Rng::new(5);
    for _ in 0..100 {
        let affine = random_affine(&mut rng);
        let entry = Mat3x4::from_affine(&affine);
        assert_eq!(entry.to_affine(), affine);
        assert_eq!(Mat3x4::from_affine(&entry.to_affine()), entry);
        let translation = Vec3::from_array(entry.rows.map(|row| row[3]));
        assert_eq!(translation, Vec3::from(affine.translation));
        let point = rng.vector(-1.0, 1.0);
        let image = affine.transform_point3(point);
        assert!(entry.transform_point(point).abs_diff_eq(image, 1e-5));
    }
    assert_eq!(Mat3x4::from_affine(&Affine3A::IDENTITY), Mat3x4::IDENTITY);
}

/// With one vertex on one joint, the box is a point plus the allowance for rounding.
fn dot(position: Vec3) -> Character {
    let raw = RawCharacter {
        nodes: vec![node("joint", None, Transform::IDENTITY)],
        primitives: vec![RawPrimitive {
            positions: vec![position],
            indices: vec![0; 3],
            ..RawPrimitive::default()
        }],
        ..RawCharacter::default()
    };
    raw.build(&ImportOptions::curves_only()).unwrap().character
}

#[test]
fn bounds_hold_what_rounding_moves() {
    let mut rng = Rng::new(19);
    let mut posed = PosedVertices::default();
    for _ in 0..300 {
        let character = dot(rng.vector(-1000.0, 1000.0));
        for _ in 0..30 {
            let palette = [Mat3x4::from_affine(&random_affine(&mut rng))];
            let bounds = character.posed_bounds(&palette, None).unwrap();
            let palette = &palette;
            character
                .skin_primitive(&character.primitives()[0], palette, &[], &mut posed)
                .unwrap();
            let at = posed.positions[0];
            assert!(
                at.cmpge(bounds.min).all() && at.cmple(bounds.max).all(),
                "{at} {bounds:?}"
            );
            assert!(bounds.size().max_element() < 0.1, "{bounds:?}");
        }
    }
}
