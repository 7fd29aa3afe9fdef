//! Poses as rotations away from rest, and the solver that places the ankles.
//!
//! Rotations are expressed along the character's own axes. Let U be the joint's rotation in
//! character space times the inverse of its rest rotation. A chain is then U(joint) = U(parent) ·
//! delta(joint), and no joint's own axes are involved.

use super::rig;
use super::rig::{ANKLE, BALL, BodyPart, HIP, HIPS, JOINTS, KNEE, RestJoint, Side, on_side};
use core::f32::consts::TAU;
use throng::glam::{Quat, Vec3};

/// Maximum stretch as a fraction of the leg's length, so that the knee keeps a bend.
const MOST_STRETCH: f32 = 0.9993;

#[derive(Clone)]
pub(super) struct Pose {
    /// Rotation of each joint in character axes, as if every parent were at rest.
    pub(super) delta: [Quat; JOINTS],
    /// Offset of the hips from rest, in metres.
    pub(super) hips: Vec3,
}

impl Pose {
    pub(super) fn rest() -> Self {
        Self {
            delta: [Quat::IDENTITY; JOINTS],
            hips: Vec3::ZERO,
        }
    }

    /// The rotation U of a joint.
    pub(super) fn turn(&self, rest: &[RestJoint], joint: usize) -> Quat {
        let parent = rest[joint]
            .parent
            .map_or(Quat::IDENTITY, |parent| self.turn(rest, parent));
        parent * self.delta[joint]
    }

    /// Bends the leg so that the ankle reaches `ankle` and the foot turns by `foot`.
    ///
    /// Both are in character space. The knee bends towards `forward`.
    pub(super) fn reach(
        &mut self,
        rest: &[RestJoint],
        side: Side,
        ankle: Vec3,
        foot: Quat,
        forward: Vec3,
    ) {
        let [hip0, knee0, ankle0] = [HIP, KNEE, ANKLE].map(|p| on_side(side, p));
        let hips = self.turn(rest, HIPS);
        let hip = rest[HIPS].position + self.hips + hips * (hip0 - rest[HIPS].position);
        let (upper, lower) = (knee0.distance(hip0), ankle0.distance(knee0));
        let way = ankle - hip;
        let length = way.length().min(MOST_STRETCH * (upper + lower));
        let along = way.normalize_or(Vec3::NEG_Y);
        let out = forward.reject_from_normalized(along).normalize_or(Vec3::Z);
        let to_foot = (upper * upper - lower * lower + length * length) / (2.0 * length);
        let knee = along * to_foot + out * (upper * upper - to_foot * to_foot).max(0.0).sqrt();
        let turned = |from: Vec3, to: Vec3| rig::axes(to, out) * rig::axes(from, Vec3::Z).inverse();
        let thigh = turned(knee0 - hip0, knee);
        let shin = turned(ankle0 - knee0, along * length - knee);
        self.delta[side.of(BodyPart::UpperLeg)] = hips.inverse() * thigh;
        self.delta[side.of(BodyPart::LowerLeg)] = thigh.inverse() * shin;
        self.delta[side.of(BodyPart::Foot)] = shin.inverse() * foot;
    }

    /// Places the foot by the position of its sole.
    ///
    /// - `at`: position where its sole would stand flat, in character space, 0 at rest.
    /// - `pitch`: radians. Positive values raise the heel over the ball, negative values raise the
    ///   toes over the heel.
    /// - `out`: turns the toes outward.
    /// - `toes`: bends the toes up.
    pub(super) fn stand(
        &mut self,
        rest: &[RestJoint],
        side: Side,
        at: Vec3,
        [pitch, out, toes]: [f32; 3],
    ) {
        let [ankle0, ball] = [ANKLE, BALL].map(|p| on_side(side, p));
        let heel = Vec3::new(ankle0.x, 0.0, HEEL_Z);
        let yaw = Quat::from_rotation_y(out * side.sign());
        let foot = yaw * Quat::from_rotation_x(pitch);
        let pivot = if pitch > 0.0 { ball } else { heel };
        let ankle = at + ankle0 + yaw * (pivot - ankle0) + foot * (ankle0 - pivot);
        self.reach(rest, side, ankle, foot, yaw * Vec3::new(0.0, 0.0, 1.0));
        self.delta[side.of(BodyPart::Toes)] = Quat::from_rotation_x(-toes);
    }

    /// Makes the twist joints follow the arm and the hand.
    pub(super) fn follow_twist(&mut self) {
        for side in Side::BOTH {
            let along = on_side(side, rig::ARM);
            let twist = |delta: Quat| {
                2.0 * f32::atan2(Vec3::new(delta.x, delta.y, delta.z).dot(along), delta.w)
            };
            let wrap = |angle: f32| angle - TAU * (angle / TAU).round();
            let upper = wrap(twist(self.delta[side.of(BodyPart::UpperArm)]));
            let hand = wrap(twist(self.delta[side.of(BodyPart::Hand)]));
            self.delta[side.of(BodyPart::UpperArmTwist)] =
                Quat::from_axis_angle(along, -0.75 * upper);
            self.delta[side.of(BodyPart::LowerArmTwist)] = Quat::from_axis_angle(along, 0.5 * hand);
        }
    }
}

/// Z of the point where the heel touches the ground, in metres.
const HEEL_Z: f32 = -0.086;

/// The posture of an arm, in radians.
///
/// The angles are: out from the body, to the front, inward, elbow bend, and finger curl.
#[derive(Clone, Copy)]
pub(super) struct Arm {
    pub(super) out: f32,
    pub(super) forward: f32,
    pub(super) inward: f32,
    pub(super) elbow: f32,
    pub(super) curl: f32,
}

impl Pose {
    /// Poses an arm that hangs down, with swing angles from there.
    pub(super) fn hold(&mut self, side: Side, arm: Arm) {
        let s = side.sign();
        // From 45° at rest to straight down, then outward again.
        let lower = Quat::from_rotation_z(-s * (core::f32::consts::FRAC_PI_4 - arm.out));
        let swing = Quat::from_rotation_x(-arm.forward);
        let inward = Quat::from_rotation_y(-s * arm.inward);
        self.delta[side.of(BodyPart::UpperArm)] = swing * inward * lower;
        self.bend_elbow(side, arm.elbow);
        self.curl(side, arm.curl);
    }

    /// Bends the elbow about its own hinge.
    pub(super) fn bend_elbow(&mut self, side: Side, angle: f32) {
        let along = on_side(side, rig::ARM);
        self.delta[side.of(BodyPart::LowerArm)] =
            Quat::from_axis_angle(along.cross(Vec3::Z).normalize(), angle);
    }

    /// Curls the fingers by `angle` at each joint, the outer ones a little more, the thumb less.
    pub(super) fn curl(&mut self, side: Side, angle: f32) {
        for (index, finger) in rig::FINGERS.iter().enumerate() {
            let [along, curl] = [finger.direction(), finger.curl()].map(|v| on_side(side, v));
            let hinge = along.cross(curl).normalize();
            let part = if index == 0 {
                [0.25, 0.35, 0.35]
            } else {
                [0.80, 1.0, 0.7].map(|f| f * (0.88 + 0.06 * index as f32))
            };
            for (bone, part) in part.into_iter().enumerate() {
                self.delta[side.of(BodyPart::Finger(index)) + bone] =
                    Quat::from_axis_angle(hinge, angle * part);
            }
        }
    }
}

/// Sine of a phase with a phase shift, both in turns.
pub(super) fn wave_of(phase: f32, shift: f32) -> f32 {
    (TAU * (phase - shift)).sin()
}
