//! What every skinning method promises, whatever the model.

mod reference;

use reference::maths::{V3, angle, cross, dot, normal};
use reference::methods::{direction, wide};
use reference::rng::Rng;
use reference::{assets, random};
use std::f32::consts::{PI, TAU};
use throng::builtin;
use throng::character::{Affine, Character, Influences, JointIndices, Primitive, Transform};
use throng::glam::{Affine3A, Mat4, Quat, Vec3, Vec4};
use throng::import::{
    self, ImportOptions, RawCharacter, RawNode, RawPrimitive, RawSkin, RawTransform,
};
use throng::pose::{
    DualQuat, DualQuatStretch, Mat3x4, MorphedVertices, PaletteEntry, PosedVertices, QuatOffset,
    morph, skin,
};

/// One rounding of a number of magnitude 1.
const ULP: f32 = 1.0 / 16_777_216.0;

fn skinned<E: PaletteEntry>(
    character: &Character,
    primitive: &Primitive,
    palette: &[E],
) -> PosedVertices {
    let weights: Vec<f32> = character.morph_weights().iter().map(|w| w.rest).collect();
    let mut out = PosedVertices::default();
    skin(
        character,
        primitive,
        E::palette(palette),
        &weights,
        &mut out,
    )
    .unwrap();
    out
}

fn entries<E: PaletteEntry>(matrices: &[Affine]) -> Vec<E> {
    let held = matrices.iter().map(|matrix| E::try_from_affine(matrix));
    held.collect::<Result<_, _>>().unwrap()
}

/// A primitive with a tangent for every normal.
fn with_tangents(primitive: &Primitive) -> Primitive {
    let tangent = |normal: &Vec3| normal.any_orthonormal_vector().extend(-1.0);
    Primitive {
        tangents: primitive.normals.iter().map(tangent).collect(),
        ..primitive.clone()
    }
}

/// The assets, the built-in character and random ones.
fn characters() -> Vec<Character> {
    let options = ImportOptions::default();
    let files = assets::files().into_iter();
    let mut all: Vec<Character> = files
        .map(|path| import::gltf_file(&path, &options).unwrap().character)
        .collect();
    all.push(builtin::mannequin().unwrap().character);
    all.extend((0..20).map(|seed| random::character(seed).build(&options).unwrap().character));
    all
}

/// Two joints at the origin, and `count` vertices of so many influences with random weights, normals and
/// tangents; joints are random of 16.
fn many(count: usize, per_vertex: usize, rng: &mut Rng) -> Character {
    let node = |index: usize| RawNode {
        name: format!("joint {index}").into(),
        parent: None,
        transform: RawTransform::Trs(Transform::IDENTITY),
    };
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
        skins: vec![RawSkin {
            joints: (0..16).collect(),
            inverse_bind: vec![Mat4::IDENTITY; 16],
            ..RawSkin::default()
        }],
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
    raw.build(&ImportOptions::default()).unwrap().character
}

const COUNTS: [usize; 6] = [1, 2, 3, 4, 8, 13];

/// −0 becomes 0 where 0 is added to it; every other bit must stay.
fn bits(v: Vec3) -> [u32; 3] {
    (v + Vec3::ZERO).to_array().map(f32::to_bits)
}

fn identity_gives_rest<E: PaletteEntry>(character: &Character) {
    let palette = vec![E::project(&Affine::IDENTITY); character.palette().len()];
    let weights: Vec<f32> = character.morph_weights().iter().map(|w| w.rest).collect();
    for primitive in character.primitives() {
        let primitive = with_tangents(primitive);
        let out = skinned(character, &primitive, &palette);
        let mut rest = MorphedVertices::default();
        morph(&primitive, &weights, &mut rest).unwrap();
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

/// The most that positions and directions are apart from what one matrix does to the rest pose.
fn rigidly<E: PaletteEntry>(character: &Character, matrix: &Affine) {
    let palette = entries::<E>(&vec![*matrix; character.palette().len()]);
    for primitive in character.primitives() {
        let primitive = with_tangents(primitive);
        let out = skinned(character, &primitive, &palette);
        for (got, p) in out.positions.iter().zip(&primitive.positions) {
            let magnitude = p.length() + matrix.translation.length();
            let off = got.distance(matrix.transform_point3(*p));
            // Conversion to a quaternion, blend and transform: some forty roundings in all.
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
    let mut all = vec![builtin::mannequin().unwrap().character];
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

const SEGMENTS: usize = 128;
const RINGS: usize = 128;
const RADIUS: f32 = 0.5;

/// A closed cylinder from y = 0 to 1 between two joints on its axis; `weight` says how much of the second one a
/// height follows.
fn cylinder(weight: impl Fn(f32) -> f32) -> Character {
    let node = |name: &str| RawNode {
        name: name.into(),
        parent: None,
        transform: RawTransform::Trs(Transform::IDENTITY),
    };
    let (mut positions, mut weights) = (Vec::new(), Vec::new());
    let mut add = |p: Vec3| {
        positions.push(p);
        weights.extend([1.0 - weight(p.y), weight(p.y)]);
    };
    for ring in 0..=RINGS {
        for segment in 0..SEGMENTS {
            let (sin, cos) = (TAU * segment as f32 / SEGMENTS as f32).sin_cos();
            add(Vec3::new(
                RADIUS * cos,
                ring as f32 / RINGS as f32,
                RADIUS * sin,
            ));
        }
    }
    add(Vec3::ZERO);
    add(Vec3::Y);
    let at = |ring: usize, segment: usize| (ring * SEGMENTS + segment % SEGMENTS) as u32;
    let (bottom, top) = (at(RINGS + 1, 0), at(RINGS + 1, 1));
    let mut indices = Vec::new();
    for segment in 0..SEGMENTS {
        let next = segment + 1;
        for ring in 0..RINGS {
            let (a, b) = (at(ring, segment), at(ring, next));
            let (c, d) = (at(ring + 1, segment), at(ring + 1, next));
            indices.extend([a, c, b, b, c, d]);
        }
        indices.extend([bottom, at(0, segment), at(0, next)]);
        indices.extend([top, at(RINGS, next), at(RINGS, segment)]);
    }
    let raw = RawCharacter {
        nodes: vec![node("lower"), node("upper")],
        skins: vec![RawSkin {
            joints: vec![0, 1],
            inverse_bind: vec![Mat4::IDENTITY; 2],
            ..RawSkin::default()
        }],
        primitives: vec![RawPrimitive {
            skin: Some(0),
            influences_per_vertex: 2,
            joints: [0, 1].repeat(positions.len()),
            positions,
            weights,
            indices,
            ..RawPrimitive::default()
        }],
        ..RawCharacter::default()
    };
    raw.build(&ImportOptions::default()).unwrap().character
}

/// By the divergence theorem: the sum of the signed tetrahedra over all triangles and the origin.
fn volume(character: &Character, positions: &[Vec3]) -> f64 {
    let corner = |index: u32| -> V3 { positions[index as usize].to_array().map(f64::from) };
    let (triangles, _) = character.primitives()[0].indices.as_chunks::<3>();
    let six = triangles
        .iter()
        .map(|t| dot(corner(t[0]), cross(corner(t[1]), corner(t[2]))));
    six.sum::<f64>() / 6.0
}

/// The twisted cylinder's volume by the straight one's.
fn kept<E: PaletteEntry>(character: &Character, twist: f32) -> f64 {
    let turned = Affine3A::from_rotation_y(twist);
    let palette = entries::<E>(&[Affine::IDENTITY, turned]);
    let primitive = &character.primitives()[0];
    let out = skinned(character, primitive, &palette);
    volume(character, &out.positions) / volume(character, &primitive.positions)
}

/// Where both joints have half the weight everywhere, a point at angle 0 goes to the mean of the directions at
/// 0 and θ, which lies at θ/2 and at cos(θ/2) of the radius: linear blending keeps cos²(θ/2) of the volume,
/// and dual quaternions, which turn by θ/2, all of it. Weights of 32,768 and 32,767 parts differ from
/// halves by 1/131,070, which in the square makes less than 1e-9 of the volume at these angles; what is left is
/// the rounding of some ten thousand vertices, each by some 2⁻²² of its radius.
#[test]
fn a_cylinder_of_half_weights_keeps_its_volume_or_loses_a_known_part() {
    let character = cylinder(|_| 0.5);
    for degrees in [10.0_f32, 45.0, 90.0, 120.0, 170.0] {
        let twist = degrees.to_radians();
        let expected = f64::from(twist / 2.0).cos().powi(2);
        for linear in [
            kept::<Mat3x4>(&character, twist),
            kept::<QuatOffset>(&character, twist),
        ] {
            assert!(
                (linear - expected).abs() < 2e-6,
                "{degrees}°: {linear} {expected}"
            );
        }
        for dual in [
            kept::<DualQuat>(&character, twist),
            kept::<DualQuatStretch>(&character, twist),
        ] {
            assert!((dual - 1.0).abs() < 2e-6, "{degrees}°: {dual}");
        }
    }
}

/// Weights that run from one joint to the other along the axis. Linear blending puts a ring of weight w at
/// `√(1 − 4 w (1 − w) sin²(θ/2))` of the radius, which keeps `1 − ⅔ sin²(θ/2)` of the volume in all.
///
/// A triangle between two rings spans the angle σ between their turns and a segment's angle, so each of its points lies at
/// cos(σ/2) of the radius at least: it is there that a bound on what triangles take from the volume comes
/// from, of at most 1 − cos²(σ/2), and σ of no two rings is greater than the fastest turn's, which is that of
/// w = ½: for linear blending `2 tan(θ/2)` a unit of w (the derivative of `atan2(w sin θ, 1 − w + w cos θ)`), and
/// for dual quaternions `4 tan(θ/4)`, twice that of the half angle.
#[test]
fn a_twisted_cylinder_keeps_its_volume_or_loses_a_known_part() {
    let character = cylinder(|y| y);
    for degrees in [30.0_f32, 90.0, 120.0] {
        let twist = degrees.to_radians();
        let taken = |turn: f32| {
            let span = f64::from(turn / RINGS as f32 + 2.0 * PI / SEGMENTS as f32);
            1.0 - (span / 2.0).cos().powi(2)
        };
        let dual = kept::<DualQuat>(&character, twist);
        let bound = taken(4.0 * (twist / 4.0).tan());
        assert!(
            dual <= 1.0 + 2e-6 + taken(0.0) && dual >= 1.0 - bound,
            "{degrees}°: {dual}, {bound}"
        );
        let linear = kept::<Mat3x4>(&character, twist);
        let expected = 1.0 - 2.0 / 3.0 * f64::from(twist / 2.0).sin().powi(2);
        let bound = taken(2.0 * (twist / 2.0).tan());
        assert!(
            (linear - expected).abs() <= bound,
            "{degrees}°: {linear}, {expected} ± {bound}"
        );
        println!(
            "twisted by {degrees}°: linear keeps {linear:.4} of the volume, dual quaternions {dual:.6}"
        );
    }
}

/// The same influences, the others than the first in another order.
fn permuted(primitive: &Primitive, rng: &mut Rng) -> Primitive {
    let per_vertex = primitive.influences.per_vertex as usize;
    let (mut joints, mut weights) = (Vec::new(), Vec::new());
    for vertex in 0..primitive.vertex_count() {
        let start = vertex * per_vertex;
        let mut order: Vec<usize> = (start..start + per_vertex).collect();
        for at in 1..per_vertex {
            order.swap(at, at + rng.below(per_vertex - at));
        }
        joints.extend(
            order
                .iter()
                .map(|at| primitive.influences.joints.get(*at) as u8),
        );
        weights.extend(order.iter().map(|at| primitive.influences.weights[*at]));
    }
    Primitive {
        influences: Influences {
            per_vertex: primitive.influences.per_vertex,
            joints: JointIndices::U8(joints),
            weights,
        },
        ..primitive.clone()
    }
}

fn permuting_changes_rounding<E: PaletteEntry>(
    character: &Character,
    matrices: &[Affine],
    rng: &mut Rng,
) {
    let palette = entries::<E>(matrices);
    let primitive = with_tangents(&character.primitives()[0]);
    let other = permuted(&primitive, rng);
    let (a, b) = (
        skinned(character, &primitive, &palette),
        skinned(character, &other, &palette),
    );
    // Sums of up to 13 products of magnitude below 8 each, in another order.
    for (a, b) in a.positions.iter().zip(&b.positions) {
        assert!(a.distance(*b) <= 8.0 * 32.0 * ULP, "{a} {b}");
    }
    // Normals are divided by what the blend leaves of them, here at least 0.1 or so.
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
            // Turns of up to half a radian each way: the blend of many keeps most of a normal's length.
            let matrix = |rng: &mut Rng| {
                let turn = Quat::from_axis_angle(rng.direction(), rng.range(-0.5, 0.5));
                Affine3A::from_rotation_translation(turn, rng.vector(-3.0, 3.0))
            };
            let matrices: Vec<Affine> = (0..16).map(|_| matrix(&mut rng)).collect();
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
        let matrices: Vec<Affine> = (0..16)
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
            // Signs change no rounding, so not a bit differs.
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

/// Normals against the inverse transpose and tangents against the matrix, in `f64`, where blends stretch, mirror
/// and shear.
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
                for (joint, weight) in primitive.influences.of(vertex) {
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
                // The reference's flattest matrices magnify roundings by a hundred or so.
                assert!(angle(array(out.normals[vertex]), expected) < 400.0 * f64::from(ULP));
                let (base, got): (Vec4, Vec4) = (primitive.tangents[vertex], out.tangents[vertex]);
                let expected = direction(&rows, array(base.truncate())).unwrap();
                assert!(angle(array(got.truncate()), expected) < 400.0 * f64::from(ULP));
                // Within half a radian of each other, mirrors stay mirrors.
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
        let matrices: Vec<Affine> = (0..16).map(|_| matrix(&mut rng)).collect();
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
