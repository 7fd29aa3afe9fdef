//! Skins that differ by the grid of their mesh share palette entries.

use crate::reference::ribbon::{palette, ribbon};
use throng::character::Character;
use throng::glam::{Mat4, Quat, Vec3};
use throng::import::{ImportOptions, Imported, RawCharacter, RepairKind};
use throng::mesh::MorphTarget;
use throng::skin::PosedVertices;

/// The bound that `RepairKind::SkinShared` states, in parts of the size of the largest mesh.
const BOUND: f32 = 4e-6;

/// A ribbon of two sides with three times as many primitives, all with skin 0.
fn parts() -> RawCharacter {
    let mut raw = ribbon(6);
    for copy in 1..3 {
        for side in 0..2 {
            let mut primitive = raw.primitives[side].clone();
            primitive.name = format!("copy {copy} of side {side}").into();
            for position in &mut primitive.positions {
                *position += Vec3::new(0.1, 0.05, 0.2) * copy as f32;
            }
            raw.primitives.push(primitive);
        }
    }
    raw
}

/// Puts each primitive on a grid of its own, as an exporter that quantises to 14 bits: positions
/// are whole numbers, and the grid goes into the inverse bind matrices.
fn quantised(raw: &RawCharacter, grids: &[Mat4]) -> RawCharacter {
    let mut raw = raw.clone();
    let skin = raw.skins[0].clone();
    raw.skins.clear();
    for (number, primitive) in raw.primitives.iter_mut().enumerate() {
        let grid = grids[number % grids.len()];
        let inverse = grid.inverse();
        for position in &mut primitive.positions {
            *position = inverse.transform_point3(*position).round();
        }
        let mut skin = skin.clone();
        for matrix in &mut skin.inverse_bind {
            *matrix *= grid;
        }
        raw.skins.push(skin);
        primitive.skin = Some(number);
    }
    raw
}

/// A grid of 14 bits for meshes within a box of 8 metres.
fn grid(scale: f32, offset: Vec3) -> Mat4 {
    Mat4::from_translation(offset) * Mat4::from_scale(Vec3::splat(8.0 * scale / 16384.0))
}

fn grids() -> [Mat4; 6] {
    [
        grid(1.0, Vec3::new(-0.5, -0.25, -0.5)),
        grid(0.9, Vec3::new(-0.4, 0.0, -0.75)),
        grid(1.0, Vec3::new(-0.5, -0.25, -0.5)),
        grid(1.1, Vec3::ZERO),
        grid(0.95, Vec3::new(1.0, 1.0, 1.0)),
        grid(0.8, Vec3::Y),
    ]
}

fn import(raw: RawCharacter, share_binds: bool) -> Imported {
    let options = ImportOptions {
        share_binds,
        curves: true,
        ..ImportOptions::default()
    };
    raw.build(&options).unwrap()
}

fn shared(imported: &Imported) -> usize {
    let shared = imported.repairs.iter();
    let shared = shared.filter(|repair| repair.kind == RepairKind::SkinShared);
    shared.count()
}

/// The posed vertices of all primitives, morphed where there is a weight.
fn posed(character: &Character, moment: Option<(usize, f64)>) -> Vec<PosedVertices> {
    let palette = palette(character, moment);
    let weights = vec![0.75; character.morph_weights().len()];
    let primitives = character.primitives().iter();
    let posed = primitives.map(|primitive| {
        let mut out = PosedVertices::default();
        let done = character.skin_primitive(primitive, &palette, &weights, &mut out);
        done.unwrap();
        out
    });
    posed.collect()
}

fn compare(a: &Character, b: &Character) {
    assert_eq!(a.primitives().len(), b.primitives().len());
    let size = a.rest_bounds().size().length();
    for moment in [None, Some((0, 0.0)), Some((0, 0.4)), Some((1, 0.7))] {
        for (a, b) in posed(a, moment).iter().zip(&posed(b, moment)) {
            assert_eq!(a.positions.len(), b.positions.len());
            for (a, b) in a.positions.iter().zip(&b.positions) {
                assert!(a.distance(*b) <= 2.0 * BOUND * size, "{moment:?}: {a} {b}");
            }
            for (a, b) in a.normals.iter().zip(&b.normals) {
                assert!(a.distance(*b) <= 1e-5, "{moment:?}: {a} {b}");
            }
            for (a, b) in a.tangents.iter().zip(&b.tangents) {
                assert!(a.distance(*b) <= 1e-5, "{moment:?}: {a} {b}");
            }
        }
    }
}

#[test]
fn meshes_with_grids_of_their_own_share_entries() {
    let raw = quantised(&parts(), &grids());
    let (together, apart) = (import(raw.clone(), true), import(raw, false));
    // One of the six skins stays, and one has the same grid.
    assert_eq!((shared(&together), shared(&apart)), (4, 0));
    let one_skin = import(parts(), true).character.palette().len();
    assert_eq!(together.character.palette().len(), one_skin);
    // Two of the six grids are equal.
    assert_eq!(apart.character.palette().len(), 5 * one_skin);
    compare(&together.character, &apart.character);
    // An exporter writes this without quantising.
    compare_with_rounding(&together.character, &import(parts(), true).character);
}

/// Positions are rounded to half a step of the coarsest grid.
fn compare_with_rounding(a: &Character, b: &Character) {
    let step = 8.0 * 1.1 / 16384.0;
    for (a, b) in posed(a, None).iter().zip(&posed(b, None)) {
        for (a, b) in a.positions.iter().zip(&b.positions) {
            assert!((*a - *b).abs().max_element() <= 0.51 * step, "{a} {b}");
        }
    }
}

/// Turned grids turn normals, tangents and morph deltas; only a part of the joints is common.
#[test]
fn turned_meshes_and_other_joints_follow() {
    let turn = Mat4::from_quat(Quat::from_rotation_x(0.7));
    let mut raw = parts();
    for primitive in &mut raw.primitives {
        let count = primitive.positions.len() as u32;
        primitive.tangents = vec![Vec3::X.extend(-1.0); count as usize];
        primitive.morph = Some(0);
        primitive.targets = vec![MorphTarget {
            vertices: (0..count).collect(),
            positions: vec![Vec3::new(100.0, -50.0, 25.0); count as usize],
            normals: vec![Vec3::new(0.1, 0.2, 0.3); count as usize],
            tangents: vec![Vec3::new(0.0, 0.2, 0.3); count as usize],
        }];
    }
    raw.morphs = vec![throng::import::RawMorph {
        node: 0,
        owner: "ribbon".into(),
        weights: vec![0.0],
        names: vec!["grow".into()],
    }];
    let turned = grids().map(|grid| grid * turn);
    let mut raw = quantised(&raw, &[grids(), turned].concat());
    // The last skin lacks the first joints, which its mesh does not use.
    let last = raw.skins.len() - 1;
    let kept = raw.skins[0].joints.len() - 2;
    for primitive in &mut raw.primitives {
        if primitive.skin == Some(last) {
            for joint in &mut primitive.joints {
                *joint = joint.saturating_sub(2);
            }
        }
    }
    raw.skins[last].joints.drain(..2);
    raw.skins[last].inverse_bind.drain(..2);
    assert_eq!(raw.skins[last].joints.len(), kept);
    let (together, apart) = (import(raw.clone(), true), import(raw, false));
    assert!(shared(&together) >= 4);
    assert!(together.character.palette().len() * 4 < apart.character.palette().len());
    compare(&together.character, &apart.character);
}

#[test]
fn other_skins_stay_as_they_are() {
    // Stretched along one axis, mirrored, and bound in another pose.
    let stretched = Mat4::from_scale(Vec3::new(1.0, 1.5, 1.0));
    let mirrored = Mat4::from_scale(Vec3::new(-1.0, 1.0, 1.0));
    let plain = grids()[0];
    let raw = quantised(&parts(), &[plain, plain * stretched, plain * mirrored]);
    let mut posed = raw.clone();
    posed.skins[4].inverse_bind[3] *= Mat4::from_rotation_x(1e-3);
    for raw in [raw, posed] {
        let together = import(raw.clone(), true).character;
        let apart = import(raw, false).character;
        assert_eq!(together.palette(), apart.palette());
        assert_eq!(together.primitives(), apart.primitives());
    }
}

/// Matrices that are no transforms are errors, with or without.
#[test]
fn broken_matrices_are_reported_as_before() {
    for broken in [f32::NAN, f32::INFINITY, 0.0] {
        let mut raw = quantised(&parts(), &grids());
        raw.skins[2].inverse_bind[1] *= broken;
        let build = |share_binds| {
            let options = ImportOptions {
                share_binds,
                ..ImportOptions::default()
            };
            let built = raw.clone().build(&options);
            built.map(|_| ()).map_err(|error| error.to_string())
        };
        assert_eq!(build(true), build(false));
    }
}
