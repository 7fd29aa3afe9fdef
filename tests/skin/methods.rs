//! Properties of every skinning method, for any model.

use crate::reference::blend::{COUNTS, ULP, entries, many, skinned, with_tangents};
use crate::reference::maths::{M4, distance, point};
use crate::reference::methods::{Entry, dual_quat, linear, quat_offset, wide};
use crate::reference::rng::Rng;
use crate::reference::{assets, random};
use throng::character::Character;
use throng::glam::{Affine3A, Quat, Vec3};
use throng::import::{ImportOptions, RawCharacter};
use throng::mesh::{JointIndices, Primitive};
use throng::palette::{DualQuat, DualQuatStretch, Mat3x4, PaletteEntry, QuatOffset};
use throng::skin::PosedVertices;

/// The assets, the built-in character and random ones.
fn characters() -> Vec<Character> {
    let options = ImportOptions::curves_only();
    let files = assets::files().into_iter();
    let mut all: Vec<Character> = files
        .map(|path| throng_import::file(&path, &options).unwrap().character)
        .collect();
    all.push(
        RawCharacter::mannequin()
            .build(&ImportOptions::curves_only())
            .unwrap()
            .character,
    );
    all.extend((0..20).map(|seed| random::character(seed).build(&options).unwrap().character));
    all
}

/// The bits, with −0 as 0: adding 0 changes it. Every other bit must stay.
fn bits(v: Vec3) -> [u32; 3] {
    (v + Vec3::ZERO).to_array().map(f32::to_bits)
}

fn identity_gives_rest<E: PaletteEntry>(character: &Character) {
    let palette = vec![E::project(&Affine3A::IDENTITY); character.palette().len()];
    let weights = vec![0.0; character.morph_weights().len()];
    for primitive in character.primitives() {
        let primitive = with_tangents(primitive);
        let rest = &primitive;
        let mut out = PosedVertices::default();
        character
            .skin_primitive(rest, &palette, &weights, &mut out)
            .unwrap();
        assert_eq!(out.positions.len(), rest.positions.len());
        for (got, want) in out.positions.iter().zip(&rest.positions) {
            assert_eq!(bits(*got), bits(*want), "{}", primitive.name);
        }
        for (got, want) in out.normals.iter().zip(&rest.normals) {
            assert_eq!(bits(*got), bits(*want), "{}", primitive.name);
        }
        assert_eq!(out.tangents.len(), rest.normals.len());
        for (got, want) in out.tangents.iter().zip(&rest.tangents) {
            assert_eq!(bits(got.truncate()), bits(want.truncate()));
            assert_eq!(got.w, want.w);
        }
    }
}

#[test]
fn identities_give_the_rest_pose_bit_for_bit() {
    let mut rng = Rng::new(53);
    let made = COUNTS.map(|per_vertex| many(300, per_vertex, &mut rng));
    for character in characters().iter().chain(&made) {
        identity_gives_rest::<Mat3x4>(character);
        identity_gives_rest::<DualQuat>(character);
        identity_gives_rest::<DualQuatStretch>(character);
        identity_gives_rest::<QuatOffset>(character);
    }
}

/// The largest differences from the rest pose under one matrix.
fn rigidly<E: PaletteEntry>(character: &Character, matrix: &Affine3A) {
    let palette = entries::<E>(&vec![*matrix; character.palette().len()]);
    for primitive in character.primitives() {
        let primitive = with_tangents(primitive);
        let out = skinned(character, &primitive, &palette);
        for (got, p) in out.positions.iter().zip(&primitive.positions) {
            let magnitude = p.length() + matrix.translation.length();
            let off = got.distance(matrix.transform_point3(*p));
            // Conversion to a quaternion, blend and transform: about forty roundings in all.
            assert!(off <= 40.0 * ULP * magnitude, "{off:e} of {magnitude}");
        }
        for (got, n) in out.normals.iter().zip(&primitive.normals) {
            assert!(got.distance(matrix.transform_vector3(*n)) <= 40.0 * ULP);
        }
        for (got, t) in out.tangents.iter().zip(&primitive.tangents) {
            let expected = matrix.transform_vector3(t.truncate());
            assert!(got.truncate().distance(expected) <= 40.0 * ULP);
            assert_eq!(got.w, t.w);
        }
    }
}

#[test]
fn a_rigid_palette_moves_the_mesh_rigidly() {
    let mut rng = Rng::new(59);
    let mut all = vec![
        RawCharacter::mannequin()
            .build(&ImportOptions::curves_only())
            .unwrap()
            .character,
    ];
    all.extend(COUNTS.map(|per_vertex| many(300, per_vertex, &mut rng)));
    for character in all {
        for _ in 0..10 {
            let matrix = Affine3A::from_rotation_translation(rng.rotation(), rng.vector(-3.0, 3.0));
            rigidly::<Mat3x4>(&character, &matrix);
            rigidly::<DualQuat>(&character, &matrix);
            rigidly::<DualQuatStretch>(&character, &matrix);
            rigidly::<QuatOffset>(&character, &matrix);
        }
    }
}

/// The same influences in another order, except for the first.
fn permuted(primitive: &Primitive, rng: &mut Rng) -> Primitive {
    let per_vertex = primitive.influences_per_vertex as usize;
    let (mut joints, mut weights) = (Vec::new(), Vec::new());
    for vertex in 0..primitive.vertex_count() {
        let start = vertex * per_vertex;
        let mut order: Vec<usize> = (start..start + per_vertex).collect();
        for at in 1..per_vertex {
            order.swap(at, at + rng.below(per_vertex - at));
        }
        let influences: Vec<_> = primitive.influences(vertex).collect();
        joints.extend(order.iter().map(|at| influences[*at - start].0 as u8));
        weights.extend(order.iter().map(|at| primitive.weights[*at]));
    }
    Primitive {
        joints: JointIndices::U8(joints),
        weights,
        ..primitive.clone()
    }
}

fn permuting_changes_rounding<E: PaletteEntry>(
    character: &Character,
    matrices: &[Affine3A],
    rng: &mut Rng,
) {
    let palette = entries::<E>(matrices);
    let primitive = with_tangents(&character.primitives()[0]);
    let other = permuted(&primitive, rng);
    let (a, b) = (
        skinned(character, &primitive, &palette),
        skinned(character, &other, &palette),
    );
    // Sums of up to 13 products below 8 each, in another order.
    for (a, b) in a.positions.iter().zip(&b.positions) {
        assert!(a.distance(*b) <= 8.0 * 32.0 * ULP, "{a} {b}");
    }
    // Normals are divided by their length after the blend, which is at least about 0.1 here.
    for (a, b) in a.normals.iter().zip(&b.normals) {
        assert!(a.distance(*b) <= 10.0 * 32.0 * ULP, "{a} {b}");
    }
}

#[test]
fn permuting_influences_changes_nothing_beyond_rounding() {
    let mut rng = Rng::new(61);
    for per_vertex in [2, 4, 8, 13] {
        let character = many(300, per_vertex, &mut rng);
        for _ in 0..10 {
            // Rotations of up to half a radian: a blend of many keeps most of a normal's length.
            let matrix = |rng: &mut Rng| {
                let turn = Quat::from_axis_angle(rng.direction(), rng.range(-0.5, 0.5));
                Affine3A::from_rotation_translation(turn, rng.vector(-3.0, 3.0))
            };
            let matrices: Vec<Affine3A> = (0..16).map(|_| matrix(&mut rng)).collect();
            permuting_changes_rounding::<Mat3x4>(&character, &matrices, &mut rng);
            permuting_changes_rounding::<DualQuat>(&character, &matrices, &mut rng);
            permuting_changes_rounding::<DualQuatStretch>(&character, &matrices, &mut rng);
            permuting_changes_rounding::<QuatOffset>(&character, &matrices, &mut rng);
        }
    }
}

#[test]
fn antipodal_entries_are_the_same() {
    let mut rng = Rng::new(67);
    for per_vertex in [1, 2, 4, 8] {
        let character = many(300, per_vertex, &mut rng);
        let primitive = with_tangents(&character.primitives()[0]);
        let matrices: Vec<Affine3A> = (0..16)
            .map(|_| Affine3A::from_rotation_translation(rng.rotation(), rng.vector(-3.0, 3.0)))
            .collect();
        let palette = entries::<DualQuat>(&matrices);
        let expected = skinned(&character, &primitive, &palette);
        assert!(expected.positions.iter().all(|p| p.is_finite()));
        for _ in 0..10 {
            let mut turned = palette.clone();
            for entry in turned.iter_mut().filter(|_| rng.chance(2)) {
                entry.real = entry.real.map(|v| -v);
                entry.dual = entry.dual.map(|v| -v);
            }
            // Signs do not change rounding, so all bits are equal.
            assert_eq!(skinned(&character, &primitive, &turned), expected);
        }
    }
}

#[test]
fn entries_that_are_no_rotations_give_finite_vertices() {
    let mut rng = Rng::new(71);
    let character = many(30, 4, &mut rng);
    let primitive = with_tangents(&character.primitives()[0]);
    let zero = DualQuat {
        real: [0.0; 4],
        dual: [0.0; 4],
    };
    let flat = DualQuatStretch {
        stretch: [0.0; 4],
        ..DualQuatStretch::IDENTITY
    };
    let mixed: Vec<_> = (0..16)
        .map(|at| {
            if at % 2 == 0 {
                zero
            } else {
                DualQuat::IDENTITY
            }
        })
        .collect();
    for out in [
        skinned(&character, &primitive, &[zero; 16]),
        skinned(&character, &primitive, &mixed),
        skinned(&character, &primitive, &[flat; 16]),
        skinned(
            &character,
            &primitive,
            &[QuatOffset {
                scale: 0.0,
                ..QuatOffset::IDENTITY
            }; 16],
        ),
    ] {
        assert!(out.positions.iter().all(|p| p.is_finite()));
        assert!(out.normals.iter().all(|n| n.is_normalized()));
        assert!(out.tangents.iter().all(|t| t.truncate().is_normalized()));
    }
}

/// The largest error of a position by definition, relative to the magnitude of its terms.
fn off<E: PaletteEntry>(
    character: &Character,
    matrices: &[Affine3A],
    blend: impl Fn(&[(Entry, f64)]) -> M4,
) -> f64 {
    let palette = entries::<E>(matrices);
    let primitive = &character.primitives()[0];
    let exact = matrices
        .iter()
        .map(|m| Entry::new(wide(&Mat3x4::from_affine(m).rows)));
    let exact: Vec<Entry> = exact.collect();
    let out = skinned(character, primitive, &palette);
    let mut worst = 0.0_f64;
    for (vertex, got) in out.positions.iter().enumerate() {
        let influences = primitive.influences(vertex);
        let influences: Vec<_> = influences
            .map(|(joint, w)| (exact[joint], f64::from(w)))
            .collect();
        // Padding has weight 0. The f32 weights sum to 1, up to rounding.
        let sum: f64 = influences.iter().map(|(_, weight)| weight).sum();
        let influences: Vec<_> = influences
            .iter()
            .map(|(entry, w)| (*entry, w / sum))
            .collect();
        let array = |v: Vec3| v.to_array().map(f64::from);
        let expected = point(&blend(&influences), array(primitive.positions[vertex]));
        worst = worst.max(distance(array(*got), expected));
    }
    worst
}

/// Rotations are arbitrary, so that signs differ. There are stretches if the format has any.
///
/// A blend of dual quaternions is divided by its length. This is at least the largest weight, and
/// weights are at least 1/13: hence its greater bound. Magnitudes are below 8.
#[test]
fn random_blends_agree_with_the_definitions() {
    let mut rng = Rng::new(89);
    let bound = f64::from(8.0 * 40.0 * ULP);
    for per_vertex in COUNTS {
        let character = many(300, per_vertex, &mut rng);
        for _ in 0..10 {
            let mut matrices = |scale: fn(&mut Rng) -> Vec3| -> Vec<Affine3A> {
                let mut one = || {
                    let (rotation, place) = (rng.rotation(), rng.vector(-3.0, 3.0));
                    Affine3A::from_scale_rotation_translation(scale(&mut rng), rotation, place)
                };
                (0..16).map(|_| one()).collect()
            };
            let rigid = matrices(|_| Vec3::ONE);
            let uniform = matrices(|rng| Vec3::splat(rng.range(0.3, 2.0)));
            let stretched = matrices(|rng| rng.vector(0.3, 2.0));
            assert!(off::<Mat3x4>(&character, &stretched, linear) < bound);
            assert!(off::<QuatOffset>(&character, &uniform, quat_offset) < bound);
            let dual = off::<DualQuat>(&character, &rigid, |list| dual_quat(list, false));
            assert!(dual < 8.0 * bound, "{per_vertex}: {dual:e}");
            let dual = off::<DualQuatStretch>(&character, &stretched, |list| dual_quat(list, true));
            assert!(dual < 8.0 * bound, "{per_vertex}: {dual:e}");
        }
    }
}
