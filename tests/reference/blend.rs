//! Characters, palettes and primitives for tests of blending.

use super::rng::Rng;
use crate::raws;
use throng::character::Character;
use throng::glam::{Affine3A, Mat4, Vec3};
use throng::import::{ImportOptions, RawCharacter, RawPrimitive};
use throng::mesh::Primitive;
use throng::palette::PaletteEntry;
use throng::skeleton::Transform;
use throng::skin::PosedVertices;

/// The rounding error of a number of magnitude 1.
pub const ULP: f32 = 1.0 / 16_777_216.0;

pub fn skinned<E: PaletteEntry>(
    character: &Character,
    primitive: &Primitive,
    palette: &[E],
) -> PosedVertices {
    let weights: Vec<f32> = character.morph_weights().iter().map(|w| w.rest).collect();
    let mut out = PosedVertices::default();
    character
        .skin_primitive(primitive, palette, &weights, &mut out)
        .unwrap();
    out
}

pub fn entries<E: PaletteEntry>(matrices: &[Affine3A]) -> Vec<E> {
    let held = matrices.iter().map(|matrix| E::try_from_affine(matrix));
    held.collect::<Result<_, _>>().unwrap()
}

/// A primitive with a tangent for every normal.
pub fn with_tangents(primitive: &Primitive) -> Primitive {
    let tangent = |normal: &Vec3| normal.any_orthonormal_vector().extend(-1.0);
    Primitive {
        tangents: primitive.normals.iter().map(tangent).collect(),
        ..primitive.clone()
    }
}

/// Sixteen joints at the origin, and `count` vertices with normals within a metre.
///
/// Each vertex follows `per_vertex` of the joints, with random weights.
pub fn many(count: usize, per_vertex: usize, rng: &mut Rng) -> Character {
    let node = |index: usize| raws::node(format!("joint {index}"), None, Transform::IDENTITY);
    let mut joints = Vec::new();
    for _ in 0..count {
        let mut all: Vec<u32> = (0..16).collect();
        for at in 0..per_vertex {
            let other = at + rng.below(16 - at);
            all.swap(at, other);
        }
        joints.extend_from_slice(&all[..per_vertex]);
    }
    let mut weights = Vec::new();
    for _ in 0..count {
        let own: Vec<f32> = (0..per_vertex).map(|_| rng.range(0.05, 1.0)).collect();
        let sum: f32 = own.iter().sum();
        weights.extend(own.iter().map(|w| w / sum));
    }
    let raw = RawCharacter {
        nodes: (0..16).map(node).collect(),
        skins: vec![raws::skin(0..16, vec![Mat4::IDENTITY; 16])],
        primitives: vec![RawPrimitive {
            skin: Some(0),
            positions: (0..count).map(|_| rng.vector(-1.0, 1.0)).collect(),
            normals: (0..count).map(|_| rng.direction()).collect(),
            influences_per_vertex: per_vertex,
            joints,
            weights,
            indices: (0..count as u32 / 3 * 3).collect(),
            ..RawPrimitive::default()
        }],
        ..RawCharacter::default()
    };
    raw.build(&ImportOptions::curves_only()).unwrap().character
}

pub const COUNTS: [usize; 6] = [1, 2, 3, 4, 8, 13];
