//! Streams with tangents and morph targets, against the plain code.

use super::load::both;
use crate::reference::raws;
use crate::reference::rng::Rng;
use throng::character::Character;
use throng::error::Error;
use throng::glam::{Affine3A, Quat, Vec3};
use throng::import::{ImportOptions, RawCharacter, RawPrimitive};
use throng::mesh::MorphTarget;
use throng::palette::{DualQuat, DualQuatStretch, Mat3x4, PaletteEntry, QuatOffset};
use throng::skin::{PosedVertices, Skinner};

fn target(rng: &mut Rng, vertices: u32, every: u32, directions: bool) -> MorphTarget {
    let vertices: Vec<u32> = (0..vertices)
        .filter(|vertex| vertex % every == every / 2)
        .collect();
    let mut deltas = |there: bool| -> Vec<Vec3> {
        let some = vertices.iter().filter(|_| there);
        some.map(|_| rng.vector(-0.3, 0.3)).collect()
    };
    MorphTarget {
        positions: deltas(true),
        normals: deltas(directions),
        tangents: deltas(directions),
        vertices,
    }
}

/// The built-in character with tangents, and with three targets.
fn raw() -> RawCharacter {
    let mut rng = Rng::new(79);
    let mut raw = RawCharacter::mannequin();
    let primitive: &mut RawPrimitive = &mut raw.primitives[0];
    let vertices = primitive.positions.len() as u32;
    let tangent = |vertex: u32| {
        let sign = if vertex.is_multiple_of(3) { -1.0 } else { 1.0 };
        rng.direction().extend(sign)
    };
    primitive.tangents = (0..vertices).map(tangent).collect();
    primitive.morph = Some(0);
    primitive.targets = [(1, true), (5, true), (11, false)]
        .map(|(every, directions)| target(&mut rng, vertices, every, directions))
        .into();
    raw.morphs = vec![raws::morph(primitive.node, "", vec![0.0; 3])];
    raw
}

fn built(raw: RawCharacter) -> Character {
    let character = raw.build(&ImportOptions::default()).unwrap().character;
    let primitive = &character.primitives()[0];
    assert_eq!(primitive.targets.len(), 3);
    assert_eq!(primitive.tangents.len(), primitive.vertex_count());
    character
}

fn entries<E: PaletteEntry>(list: &[Affine3A]) -> Vec<E> {
    list.iter().map(E::project).collect()
}

fn check<P: PaletteEntry>(character: &Character, palette: &[P], weights: &[f32]) {
    let (mut got, mut want) = (PosedVertices::default(), PosedVertices::default());
    for skinner in both(character) {
        let (mut min, mut max) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for (number, primitive) in character.primitives().iter().enumerate() {
            character
                .skin_primitive(primitive, palette, weights, &mut want)
                .unwrap();
            skinner
                .skin_primitive(number, palette, weights, &mut got)
                .unwrap();
            // Measured: 7.2e-7 for positions, 6.0e-7 for directions.
            for (got, want) in got.positions.iter().zip(&want.positions) {
                assert!(got.abs_diff_eq(*want, 3e-6), "{got} {want}");
                (min, max) = (min.min(*got), max.max(*got));
            }
            for (got, want) in got.normals.iter().zip(&want.normals) {
                assert!(got.abs_diff_eq(*want, 3e-6), "{got} {want}");
            }
            for (got, want) in got.tangents.iter().zip(&want.tangents) {
                assert!(got.abs_diff_eq(*want, 3e-6), "{got} {want}");
                assert_eq!(got.w, want.w);
            }
            let lengths =
                |v: &PosedVertices| (v.positions.len(), v.normals.len(), v.tangents.len());
            assert_eq!(lengths(&got), lengths(&want));
            assert_eq!(got.tangents.len(), primitive.tangents.len());
        }
        let bounds = skinner.bounds(palette, weights).unwrap();
        assert_eq!((bounds.min, bounds.max), (min, max));
    }
}

#[test]
fn morphed_and_mirrored_streams_agree_with_the_plain_code() {
    let character = built(raw());
    let mut rng = Rng::new(83);
    let count = character.morph_weights().len();
    let some = |rng: &mut Rng, one_in: usize| -> Vec<f32> {
        let weight = |at: usize| {
            if at.is_multiple_of(one_in) {
                rng.range(-1.0, 1.0)
            } else {
                0.0
            }
        };
        (0..count).map(weight).collect()
    };
    for round in 0..6 {
        let weights = match round {
            0 => vec![0.0; count],
            1 => some(&mut rng, 3),
            _ => some(&mut rng, 1),
        };
        let list: Vec<Affine3A> = (0..character.palette().len())
            .map(|_| {
                let turn = Quat::from_axis_angle(rng.direction(), rng.range(-1.0, 1.0));
                let mirror = if round % 2 == 0 { 1.0 } else { -1.0 };
                let scale = Vec3::new(mirror, 1.0, 1.0) * (Vec3::ONE + rng.vector(-1.0, 1.0) * 0.2);
                Affine3A::from_scale_rotation_translation(scale, turn, rng.vector(-1.0, 1.0))
            })
            .collect();
        check(&character, &entries::<Mat3x4>(&list), &weights);
        check(&character, &entries::<DualQuat>(&list), &weights);
        check(&character, &entries::<DualQuatStretch>(&list), &weights);
        check(&character, &entries::<QuatOffset>(&list), &weights);
    }
}

#[test]
fn a_morph_that_takes_a_direction_away_leaves_the_base() {
    let mut raw = raw();
    let primitive = &mut raw.primitives[0];
    // Axes are unit vectors without rounding.
    for (vertex, normal) in primitive.normals.iter_mut().enumerate() {
        *normal = Vec3::AXES[vertex % 3];
    }
    primitive.targets[0].normals = primitive.normals.iter().map(|normal| -*normal).collect();
    let character = built(raw);
    let rest = &character.primitives()[0].normals;
    let identity = vec![Mat3x4::IDENTITY; character.palette().len()];
    let mut weights = vec![0.0; character.morph_weights().len()];
    weights[0] = 1.0;
    let mut got = PosedVertices::default();
    let skinner = Skinner::new(&character).unwrap();
    skinner
        .skin_primitive(0, &identity, &weights, &mut got)
        .unwrap();
    assert_eq!(got.normals, *rest);
}

#[test]
fn weights_must_be_finite() {
    let character = built(raw());
    let identity = vec![Mat3x4::IDENTITY; character.palette().len()];
    let mut weights = vec![0.0; character.morph_weights().len()];
    weights[1] = f32::NAN;
    let skinner = Skinner::new(&character).unwrap();
    let error = skinner.bounds(&identity, &weights);
    assert!(matches!(error, Err(Error::Argument { .. })), "{error:?}");
}
