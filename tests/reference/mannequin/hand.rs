//! The cage of the left hand, from its middle to the fingertips.

use super::cage::{Cage, Paint};
use super::rig::{BodyPart, FINGERS, Finger, Side, in_hand, wrist};
use throng::glam::Vec3;

/// The knuckles, in metres along the arm and towards the thumb's side.
///
/// Each finger lies between two of them.
const KNUCKLES: [[f32; 2]; 5] = [
    [0.082, 0.0415],
    [0.090, 0.0200],
    [0.091, -0.0005],
    [0.085, -0.0205],
    [0.074, -0.0390],
];
/// Half thickness of the hand at the knuckles, in metres.
const THICKNESS_M: f32 = 0.0125;
/// Size of a square cage that refines to a circle of radius 1.
const SQUARE: f32 = 1.08;

/// Adds the hand and closes the arm.
///
/// `loops` are the two loops around the middle of the hand, with one quad between them left open
/// for the thumb.
pub(super) fn add(cage: &mut Cage, loops: &[Vec<usize>; 2]) {
    let [before, palm] = loops;
    let thumb = [before[7], before[0], palm[0], palm[7]];
    add_finger(cage, 0, thumb);
    let knuckles = |cage: &mut Cage, towards_palm: f32| {
        let positions =
            KNUCKLES.map(|[along, side]| wrist() + in_hand([along, side, towards_palm]));
        cage.ring(positions, &[(Side::Left.of(BodyPart::Hand), 1.0)])
    };
    let b = knuckles(cage, THICKNESS_M);
    let t = knuckles(cage, -THICKNESS_M);
    let p = palm;
    for corners in [
        [p[0], p[1], b[2], b[1], b[0]],
        [p[1], p[2], b[4], b[3], b[2]],
        [p[2], p[3], p[4], t[4], b[4]],
        [p[4], p[5], t[2], t[3], t[4]],
        [p[5], p[6], t[0], t[1], t[2]],
        [p[6], p[7], p[0], b[0], t[0]],
    ] {
        cage.face(&corners, Paint::Skin);
    }
    for finger in 1..5 {
        add_finger(
            cage,
            finger,
            [b[finger - 1], b[finger], t[finger], t[finger - 1]],
        );
    }
}

/// Adds a finger that grows out of a quad.
///
/// The quad starts with its palm side, from the thumb's side to the other.
fn add_finger(cage: &mut Cage, index: usize, opening: [usize; 4]) {
    let finger = &FINGERS[index];
    let first = Side::Left.of(BodyPart::Finger(index));
    let hand = Side::Left.of(BodyPart::Hand);
    let [base, second, third, tip] = finger.points();
    if index > 0 {
        for corner in opening {
            cage.bind(corner, &[(hand, 0.8), (first, 0.2)]);
        }
    }
    let loops = [
        (
            base.lerp(second, if index == 0 { 0.25 } else { 0.42 }),
            1.0,
            vec![(first, 0.92), (hand, 0.08)],
        ),
        (second, 0.98, vec![(first, 0.5), (first + 1, 0.5)]),
        (third, 0.9, vec![(first + 1, 0.5), (first + 2, 0.5)]),
        (tip, 0.72, vec![(first + 2, 1.0)]),
    ];
    let mut behind = opening.to_vec();
    for (center, scale, bind) in loops {
        let here = cage.ring(outline(finger, index == 0, center, scale), &bind);
        cage.tube(&behind, &here, Paint::Skin);
        behind = here;
    }
    cage.face(&behind, Paint::Skin);
}

fn outline(finger: &Finger, thumb: bool, center: Vec3, scale: f32) -> [Vec3; 4] {
    let half = finger.radius_m * SQUARE * scale;
    let palm = finger.curl();
    let side = palm.cross(finger.direction());
    let [a, b] = if thumb { [-palm, side] } else { [side, palm] };
    // The order for a finger: the palm side from the thumb's side on, then the back.
    [a + b, b - a, -a - b, a - b].map(|v| center + v * half)
}
