//! The cage of the left arm, from the shoulder to the middle of the hand.

use super::cage::{Bind, Cage, Paint};
use super::rig::{ARM, BodyPart, PALM, SHOULDER, Side, UPPER_CHEST};
use Paint::{Shirt, Skin};
use throng::glam::{Vec2, Vec3};

const CLAVICLE: usize = Side::Left.of(BodyPart::Shoulder);
const UPPER_ARM: usize = Side::Left.of(BodyPart::UpperArm);
const UPPER_TWIST: usize = Side::Left.of(BodyPart::UpperArmTwist);
const LOWER_ARM: usize = Side::Left.of(BodyPart::LowerArm);
const LOWER_TWIST: usize = Side::Left.of(BodyPart::LowerArmTwist);
const HAND: usize = Side::Left.of(BodyPart::Hand);

/// A loop of vertices around the arm. All lengths are in metres.
///
/// - distance from the shoulder,
/// - half extent towards the front and towards the palm,
/// - offset towards the front and towards the palm.
struct ArmLoop {
    along: f32,
    half: [f32; 2],
    shift: [f32; 2],
    bind: Bind<'static>,
    paint: Paint,
    sharp: bool,
}

const fn arm(
    along: f32,
    half: [f32; 2],
    shift: [f32; 2],
    bind: Bind<'static>,
    paint: Paint,
) -> ArmLoop {
    ArmLoop {
        along,
        half,
        shift,
        bind,
        paint,
        sharp: false,
    }
}

#[rustfmt::skip]
const ARM_LOOPS: [ArmLoop; 12] = [
    arm(0.050, [0.066, 0.060], [0.0, -0.004],
        &[(CLAVICLE, 0.24), (UPPER_CHEST, 0.06), (UPPER_TWIST, 0.70)], Shirt),
    arm(0.110, [0.060, 0.059], [0.002, 0.0],
        &[(CLAVICLE, 0.04), (UPPER_TWIST, 0.62), (UPPER_ARM, 0.34)], Shirt),
    ArmLoop { sharp: true, ..arm(0.178, [0.059, 0.059], [0.002, 0.002],
        &[(UPPER_TWIST, 0.25), (UPPER_ARM, 0.75)], Shirt) },
    arm(0.174, [0.050, 0.050], [0.002, 0.002], &[(UPPER_TWIST, 0.25), (UPPER_ARM, 0.75)], Shirt),
    arm(0.232, [0.046, 0.044], [0.000, 0.001], &[(UPPER_ARM, 0.93), (LOWER_ARM, 0.07)], Skin),
    arm(0.282, [0.045, 0.042], [-0.003, 0.0], &[(UPPER_ARM, 0.5), (LOWER_ARM, 0.5)], Skin),
    arm(0.330, [0.047, 0.044], [0.001, -0.001],
        &[(UPPER_ARM, 0.07), (LOWER_ARM, 0.88), (LOWER_TWIST, 0.05)], Skin),
    arm(0.390, [0.044, 0.040], [0.003, -0.001], &[(LOWER_ARM, 0.5), (LOWER_TWIST, 0.5)], Skin),
    arm(0.465, [0.036, 0.031], [0.002, 0.0], &[(LOWER_TWIST, 1.0)], Skin),
    arm(0.520, [0.031, 0.025], [0.0, 0.0], &[(LOWER_TWIST, 0.6), (HAND, 0.4)], Skin),
    arm(0.545, [0.033, 0.024], [0.0, 0.0], &[(LOWER_TWIST, 0.08), (HAND, 0.92)], Skin),
    arm(0.585, [0.043, 0.021], [-0.001, 0.001], &[(HAND, 1.0)], Skin),
];

/// Adds the arm up to the middle of the hand and returns its last two loops.
pub(super) fn add(cage: &mut Cage, opening: &[usize]) -> [Vec<usize>; 2] {
    let mut loops = [opening.to_vec(), opening.to_vec()];
    for (index, spec) in ARM_LOOPS.iter().enumerate() {
        let center = SHOULDER + ARM * spec.along + Vec3::Z * spec.shift[0] + PALM * spec.shift[1];
        let around = (1..=8).map(|k| Vec2::from_angle(k as f32 * core::f32::consts::FRAC_PI_4));
        let here = cage.ring(
            around.map(|v| {
                center + Vec3::Z * (v.x * spec.half[0] * 1.05) + PALM * (v.y * spec.half[1] * 1.05)
            }),
            spec.bind,
        );
        if spec.sharp {
            cage.crease_loop(&here);
        }
        let below = loops[1].clone();
        if index + 1 == ARM_LOOPS.len() {
            // The last quad is left open for the thumb.
            cage.strip(&below, &here, spec.paint);
        } else {
            cage.tube(&below, &here, spec.paint);
        }
        loops = [below, here];
    }
    loops
}
