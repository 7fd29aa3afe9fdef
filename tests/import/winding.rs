//! Mirrors: triangles that are flipped, and those that may flip later.

use crate::reference::compare::in_file_order;
use crate::reference::poser::Poser;
use crate::reference::raws;
use crate::reference::raws::{animation, linear};
use throng::character::Character;
use throng::clip::Interpolation;
use throng::glam::{Mat4, Quat, Vec3};
use throng::import::{RawAnimation, RawChannel, RawCharacter, RawKeys, RawNode, RawPrimitive};
use throng::mesh::Primitive;
use throng::palette::{Mat3x4, WriteOnly};
use throng::skeleton::Transform;

fn node(name: &str, parent: Option<usize>, scale: Vec3) -> RawNode {
    raws::node(
        name,
        parent,
        Transform {
            scale,
            ..Transform::IDENTITY
        },
    )
}

/// A body, a right arm, and a left arm that is the right one under a mirror: one skin, one
/// primitive, bound without the mirror. Triangles: body, right, left, one from the right to the
/// left with two corners on the left, one with two on the right, and one of two halves body and
/// left.
fn limbs() -> RawCharacter {
    let joints = [
        [0, 0, 0],
        [1, 1, 1],
        [2, 2, 2],
        [1, 2, 2],
        [2, 1, 1],
        [0, 0, 0],
    ];
    let mut joints: Vec<u32> = joints.concat().iter().flat_map(|j| [*j, *j]).collect();
    let last = joints.len() - 6;
    joints[last..].copy_from_slice(&[0, 2].repeat(3));
    let corners = [Vec3::ZERO, Vec3::X, Vec3::Y];
    let moved = |at: usize| corners.map(|corner| corner + Vec3::Z * at as f32);
    RawCharacter {
        nodes: vec![
            node("body", None, Vec3::ONE),
            node("right", Some(0), Vec3::ONE),
            node("left", Some(0), Vec3::new(-1.0, 1.0, 1.0)),
        ],
        skins: vec![raws::skin([0, 1, 2], vec![Mat4::IDENTITY; 3])],
        primitives: vec![RawPrimitive {
            skin: Some(0),
            positions: (0..6).flat_map(moved).collect(),
            influences_per_vertex: 2,
            joints,
            weights: [[0.6, 0.4]; 15]
                .concat()
                .into_iter()
                .chain([0.6, 0.4].repeat(3))
                .collect(),
            indices: (0..18).collect(),
            ..RawPrimitive::default()
        }],
        ..RawCharacter::default()
    }
}

fn built(raw: RawCharacter) -> Character {
    raw.build(&in_file_order()).unwrap().character
}

fn scaled(node: usize, interpolation: Interpolation, values: &[[f32; 3]]) -> RawAnimation {
    let keys = match interpolation {
        Interpolation::CubicSpline => values.len() / 3,
        _ => values.len(),
    };
    animation(
        "scale",
        vec![RawChannel {
            node,
            times_s: (0..keys).map(|key| key as f32).collect(),
            interpolation,
            values: RawKeys::Scale(values.iter().copied().map(Vec3::from_array).collect()),
        }],
    )
}

/// True for each triangle whose vertices follow one joint alone.
fn rigid_triangles(p: &Primitive) -> Vec<bool> {
    let is_rigid = |v: &u32| p.influences(*v as usize).any(|i| i.1 == 1.0);
    let triangles = p.indices.chunks(3);
    triangles.map(|t| t.iter().all(is_rigid)).collect()
}

#[test]
fn each_triangle_is_turned_by_itself() {
    let c = built(limbs());
    let p = &c.primitives()[0];
    let turned: Vec<bool> = p.indices.chunks(3).map(|t| t[1] > t[2]).collect();
    // The last one's matrix is 0.6 of the identity and 0.4 of its mirror: 0.2 along x, upright.
    assert_eq!(turned, [false, false, true, true, false, false]);
    let flipped: Vec<bool> = c.palette().iter().map(|e| e.flipped).collect();
    assert_eq!(flipped, [false, false, true]);
    assert!(c.palette().iter().all(|e| !e.may_flip));
    let flipping = c.flipping_triangles(p);
    assert_eq!(
        flipping,
        [false, false, false, false, false, true],
        "a blend of both sides depends on the pose"
    );
    let rigid = rigid_triangles(p);
    assert_eq!(rigid, [true, true, true, true, true, false]);
}

#[test]
fn rigid_parts_are_rigid() {
    let mut raw = limbs();
    let p = &mut raw.primitives[0];
    (p.skin, p.node, p.influences_per_vertex) = (None, 2, 0);
    (p.joints, p.weights) = (Vec::new(), Vec::new());
    let c = built(raw);
    let p = &c.primitives()[0];
    assert_eq!(rigid_triangles(p), [true; 6]);
    assert!(p.indices.chunks(3).all(|t| t[1] > t[2]), "all are flipped");
    assert_eq!(c.flipping_triangles(p), [false; 6]);
}

fn flips(animations: Vec<RawAnimation>) -> [bool; 3] {
    let mut raw = limbs();
    raw.animations = animations;
    let c = built(raw);
    let flips: Vec<bool> = c.palette().iter().map(|e| e.may_flip).collect();
    let p = &c.primitives()[0];
    let expected = p.indices.chunks(3).enumerate().map(|(at, corners)| {
        let follows = |joint: usize| flips[joint];
        let of = |v: &u32| p.influences(*v as usize).any(|i| i.1 > 0.0 && follows(i.0));
        at == 5 || corners.iter().any(of)
    });
    assert_eq!(c.flipping_triangles(p), expected.collect::<Vec<_>>());
    flips.try_into().unwrap()
}

#[test]
fn scales_that_change_sign_are_seen() {
    use Interpolation::{CubicSpline, Linear, Step};
    let one = [1.0; 3];
    let mirror = [1.0, 1.0, -1.0];
    assert_eq!(flips(vec![]), [false; 3]);
    for kind in [Linear, Step] {
        assert_eq!(
            flips(vec![scaled(1, kind, &[one, mirror])]),
            [false, true, false]
        );
        assert_eq!(
            flips(vec![scaled(0, kind, &[one, mirror])]),
            [true; 3],
            "children follow"
        );
        assert_eq!(
            flips(vec![scaled(0, kind, &[one, [0.0; 3]])]),
            [false; 3],
            "nothing is left"
        );
    }
    // The left one is flipped at rest: what keeps it so is no flip, what undoes it is.
    let still = [-2.0, 1.0, 1.0];
    assert_eq!(flips(vec![scaled(2, Linear, &[still, still])]), [false; 3]);
    assert_eq!(flips(vec![scaled(2, Step, &[one])]), [false, false, true]);
    // Two keys at 1 with tangents that swing the curve through 1 − 0.75 × 1.5 between them.
    let (zero, down, up) = ([0.0; 3], [0.0, -4.5, 0.0], [0.0, 4.5, 0.0]);
    let swing = [zero, one, down, up, one, zero];
    assert_eq!(
        flips(vec![scaled(1, CubicSpline, &swing)]),
        [false, true, false]
    );
    let (down, up) = ([0.0, -1.5, 0.0], [0.0, 1.5, 0.0]);
    let gentle = [zero, one, down, up, one, zero];
    assert_eq!(flips(vec![scaled(1, CubicSpline, &gentle)]), [false; 3]);
    // One clip that mirrors the body: its children flip in it, and a blend with another may, too.
    let both = vec![scaled(0, Linear, &[mirror]), scaled(1, Linear, &[mirror])];
    assert_eq!(flips(both), [true; 3]);
}

/// If a clip scales a joint up from zero, the sign that appears then counts.
#[test]
fn a_sign_hidden_at_rest_is_seen() {
    let mut raw = limbs();
    raw.nodes[0] = node("body", None, Vec3::ZERO);
    raw.animations = vec![scaled(0, Interpolation::Linear, &[[0.0; 3], [1.0; 3]])];
    let c = built(raw);
    let state: Vec<_> = c
        .palette()
        .iter()
        .map(|e| (e.flipped, e.may_flip))
        .collect();
    assert_eq!(state, [(false, false), (false, false), (false, true)]);
    assert_eq!(
        c.flipping_triangles(&c.primitives()[0]),
        [false, false, true, true, true, true]
    );
}

#[test]
fn rotations_turn_nothing_over() {
    let mut raw = limbs();
    raw.animations = vec![animation(
        "turn",
        vec![linear(
            0,
            [0.0, 1.0],
            RawKeys::Rotation(vec![Quat::IDENTITY, Quat::from_rotation_x(3.0)]),
        )],
    )];
    assert!(built(raw).palette().iter().all(|e| !e.may_flip));
}

#[test]
fn a_pose_tells_which_triangles_it_turned_over() {
    let mut raw = limbs();
    let scale = [[1.0; 3], [-1.0, 1.0, 1.0]];
    raw.animations = vec![scaled(1, Interpolation::Linear, &scale)];
    let c = built(raw);
    for (time_s, expected) in [
        (0.2, [false; 6]),
        // Two corners of three decide.
        (0.8, [false, true, false, false, true, false]),
    ] {
        let mut palette = vec![Mat3x4::IDENTITY; c.palette().len()];
        let out = WriteOnly::from(&mut palette);
        Poser::new().palette(&c, Some((0, time_s)), out).unwrap();
        let palette = &palette;
        let turned = c.flipped_triangles(&c.primitives()[0], palette).unwrap();
        assert_eq!(turned, expected, "at {time_s}");
    }
    assert!(
        c.flipped_triangles::<Mat3x4>(&c.primitives()[0], &[])
            .is_err()
    );
}
