//! Tests with hand-made streams, tangents and morph targets, against the plain code.

use super::cpu_skinner::*;
use super::pack::Part;
use crate::character::Character;
use crate::error::Error;
use crate::mesh::{MorphTarget, MorphWeight, Primitive};
use crate::palette::{DualQuat, DualQuatStretch, Mat3x4, PaletteEntry, PaletteRef, QuatOffset};
use crate::simd::SimdLevel;
use crate::skin::PosedVertices;
use glam::{Affine3A, Quat, Vec3, Vec4};

/// Random numbers in -1..1 (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 40) as f32 / (1_u32 << 23) as f32 - 1.0
    }

    fn vector(&mut self) -> Vec3 {
        Vec3::from_array([0; 3].map(|_| self.next()))
    }

    fn direction(&mut self) -> Vec3 {
        self.vector().normalize_or(Vec3::X)
    }
}

fn target(random: &mut Random, primitive: &Primitive, every: u32, directions: bool) -> MorphTarget {
    let vertices: Vec<u32> = (0..primitive.vertex_count() as u32)
        .filter(|vertex| vertex % every == every / 2)
        .collect();
    let mut deltas = |there: bool| -> Vec<Vec3> {
        let some = vertices.iter().filter(|_| there);
        some.map(|_| random.vector() * 0.3).collect()
    };
    MorphTarget {
        positions: deltas(true),
        normals: deltas(directions),
        tangents: deltas(directions),
        vertices,
    }
}

/// The built-in character with tangents, and with three targets on every primitive.
fn character() -> Character {
    let mut random = Random(0x1234_5678_9ABC_DEF1);
    let mut character = crate::builtin::mannequin().unwrap().character;
    for (number, primitive) in character.model.primitives.iter_mut().enumerate() {
        let tangent = |number: usize, direction: Vec3| -> Vec4 {
            direction.extend(if number.is_multiple_of(3) { -1.0 } else { 1.0 })
        };
        primitive.tangents = (0..primitive.vertex_count())
            .map(|vertex| tangent(vertex, random.direction()))
            .collect();
        primitive.first_weight = 3 * number as u32;
        primitive.targets = [(1, true), (5, true), (11, false)]
            .map(|(every, directions)| target(&mut random, primitive, every, directions))
            .into();
    }
    let weight = MorphWeight {
        name: "".into(),
        owner: "".into(),
        rest: 0.0,
    };
    character.model.morph_weights = vec![weight; 3 * character.model.primitives.len()];
    character
}

fn entries<E: PaletteEntry>(list: &[Affine3A]) -> Vec<E> {
    list.iter().map(E::project).collect()
}

fn check(character: &Character, palette: PaletteRef<'_>, weights: &[f32]) {
    let (mut got, mut want) = (PosedVertices::default(), PosedVertices::default());
    for skinner in [
        Skinner::new(character).unwrap(),
        Skinner::new(character)
            .unwrap()
            .with_simd_level(SimdLevel::Portable)
            .unwrap(),
    ] {
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
            assert_eq!(got.tangents.len(), primitive.vertex_count());
        }
        let bounds = skinner.bounds(palette, weights).unwrap();
        assert_eq!((bounds.min, bounds.max), (min, max));
    }
}

#[test]
fn morphed_and_mirrored_streams_agree_with_the_plain_code() {
    let character = character();
    let mut random = Random(0x0F0E_0D0C_0B0A_0908);
    let count = character.morph_weights().len();
    let some = |random: &mut Random, one_in: usize| -> Vec<f32> {
        let weight = |at: usize| {
            if at.is_multiple_of(one_in) {
                random.next()
            } else {
                0.0
            }
        };
        (0..count).map(weight).collect()
    };
    for round in 0..6 {
        let weights = match round {
            0 => vec![0.0; count],
            1 => some(&mut random, 3),
            _ => some(&mut random, 1),
        };
        let list: Vec<Affine3A> = (0..character.palette().len())
            .map(|_| {
                let turn = Quat::from_axis_angle(random.direction(), random.next());
                let mirror = if round % 2 == 0 { 1.0 } else { -1.0 };
                let scale = Vec3::new(mirror, 1.0, 1.0) * (Vec3::ONE + random.vector() * 0.2);
                Affine3A::from_scale_rotation_translation(scale, turn, random.vector())
            })
            .collect();
        check(
            &character,
            PaletteRef::Mat3x4(&entries::<Mat3x4>(&list)),
            &weights,
        );
        check(
            &character,
            PaletteRef::DualQuat(&entries::<DualQuat>(&list)),
            &weights,
        );
        let stretched = entries::<DualQuatStretch>(&list);
        check(
            &character,
            PaletteRef::DualQuatStretch(&stretched),
            &weights,
        );
        check(
            &character,
            PaletteRef::QuatOffset(&entries::<QuatOffset>(&list)),
            &weights,
        );
    }
}

#[test]
fn a_morph_that_takes_a_direction_away_leaves_the_base() {
    let mut character = character();
    let primitive = &mut character.model.primitives[0];
    let rest = primitive.normals.clone();
    primitive.targets[0].normals = rest.iter().map(|normal| -*normal).collect();
    let identity = vec![Mat3x4::IDENTITY; character.palette().len()];
    let mut weights = vec![0.0; character.morph_weights().len()];
    weights[0] = 1.0;
    let mut got = PosedVertices::default();
    let skinner = Skinner::new(&character).unwrap();
    skinner
        .skin_primitive(0, PaletteRef::Mat3x4(&identity), &weights, &mut got)
        .unwrap();
    assert_eq!(got.normals, rest);
}

#[test]
fn weights_must_be_finite() {
    let character = character();
    let identity = vec![Mat3x4::IDENTITY; character.palette().len()];
    let mut weights = vec![0.0; character.morph_weights().len()];
    weights[1] = f32::NAN;
    let skinner = Skinner::new(&character).unwrap();
    let error = skinner.bounds(PaletteRef::Mat3x4(&identity), &weights);
    assert!(matches!(error, Err(Error::Argument { .. })), "{error:?}");
}

/// Entries that a character cannot have but its type allows. They are rejected, so that no offset
/// leads outside a palette.
#[test]
fn entries_that_are_not_there_are_refused() {
    let mut character = character();
    let count = character.model.palette.len();
    character.model.palette.truncate(count - 1);
    let refused = |character: &Character| {
        let primitives = character.primitives().iter();
        let mut parts = primitives.map(|primitive| Part::new(character, primitive));
        parts.find_map(|part| part.err())
    };
    let missing = Error::NotFound {
        what: "palette entry",
        index: count as u64 - 1,
        count: count as u64 - 1,
    };
    assert_eq!(refused(&character), Some(missing));
    let mut character = self::character();
    character.model.primitives[0].normals.pop();
    assert!(matches!(
        refused(&character),
        Some(Error::Argument {
            what: "normals",
            ..
        })
    ));
    let mut character = self::character();
    character.model.primitives[0].influences.per_vertex = 0;
    assert!(matches!(refused(&character), Some(Error::Argument { .. })));
}
