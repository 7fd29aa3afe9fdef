//! The loss of a cylinder's volume by a twist.

use crate::reference::blend::{entries, skinned};
use crate::reference::maths::{V3, cross, dot};
use crate::reference::raws;
use std::f32::consts::{PI, TAU};
use throng::character::Character;
use throng::glam::{Affine3A, Mat4, Vec3};
use throng::import::{ImportOptions, RawCharacter, RawPrimitive};
use throng::palette::{DualQuat, DualQuatStretch, Mat3x4, PaletteEntry, QuatOffset};
use throng::skeleton::Transform;

const SEGMENTS: usize = 128;
const RINGS: usize = 128;
const RADIUS: f32 = 0.5;

/// A closed cylinder from y = 0 to 1 between two joints on its axis.
///
/// `weight` returns the second joint's weight at a height.
fn cylinder(weight: impl Fn(f32) -> f32) -> Character {
    let node = |name: &str| raws::node(name, None, Transform::IDENTITY);
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
        skins: vec![raws::skin([0, 1], vec![Mat4::IDENTITY; 2])],
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
    raw.build(&ImportOptions::curves_only()).unwrap().character
}

/// The volume by the divergence theorem: the sum of signed tetrahedra of triangles and the origin.
fn volume(character: &Character, positions: &[Vec3]) -> f64 {
    let corner = |index: u32| -> V3 { positions[index as usize].to_array().map(f64::from) };
    let (triangles, _) = character.primitives()[0].indices.as_chunks::<3>();
    let six = triangles
        .iter()
        .map(|t| dot(corner(t[0]), cross(corner(t[1]), corner(t[2]))));
    six.sum::<f64>() / 6.0
}

/// The twisted cylinder's volume, relative to the straight one's.
fn kept<E: PaletteEntry>(character: &Character, twist: f32) -> f64 {
    let turned = Affine3A::from_rotation_y(twist);
    let palette = entries::<E>(&[Affine3A::IDENTITY, turned]);
    let primitive = &character.primitives()[0];
    let out = skinned(character, primitive, &palette);
    volume(character, &out.positions) / volume(character, &primitive.positions)
}

/// The volume if both joints have half of the weight everywhere.
///
/// A point at angle 0 moves to the mean of the directions at 0 and θ, which lies at θ/2 and at
/// cos(θ/2) of the radius. So linear blending keeps cos²(θ/2) of the volume. Dual quaternions
/// rotate by θ/2 and keep all of it.
///
/// Weights of 32,768 and 32,767 parts differ from halves by 1/131,070. Its square is less than
/// 1e-9 of the volume at these angles. The rest is the rounding of about ten thousand vertices,
/// each by about 2⁻²² of its radius.
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

/// The volume if the weights run from one joint to the other along the axis.
///
/// Linear blending puts a ring of weight w at `√(1 − 4 w (1 − w) sin²(θ/2))` of the radius, which
/// keeps
/// `1 − ⅔ sin²(θ/2)` of the volume in all.
///
/// The bound is the volume that triangles lose. A triangle between two rings spans the angle σ
/// between their rotations, plus a segment's angle. So each of its points lies at cos(σ/2) of the
/// radius or more, and the loss is at most 1 − cos²(σ/2).
///
/// σ is largest where the rotation is fastest, at w = ½. There it is `2 tan(θ/2)` per unit of w for
/// linear blending (the derivative of `atan2(w sin θ, 1 − w + w cos θ)`). For dual quaternions it
/// is
/// `4 tan(θ/4)`, twice that of the half angle.
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
            "twisted by {degrees}°: linear keeps {linear:.4} of the volume, dual quaternions \
             {dual:.6}"
        );
    }
}
