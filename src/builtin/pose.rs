//! Poses as rotations away from rest, seen along the character's own axes, and the solver that
//! puts a leg's ankle where it belongs.
//!
//! With U = the joint's rotation in character space times the inverse of its rest rotation, a chain
//! is just U(joint) = U(parent) · delta(joint): no joint's own axes are involved.

use super::rig;
use super::rig::{ANKLE, BALL, HIP, HIPS, JOINTS, KNEE, Part, RestJoint, Side, on_side};
use glam::{Quat, Vec3};

/// A leg is never stretched to more than this part of its length, so that the knee keeps a bend.
const MOST_STRETCH: f32 = 0.9993;

#[derive(Clone)]
pub(super) struct Pose {
    /// In character axes, as if every parent were at rest.
    pub(super) delta: [Quat; JOINTS],
    /// Of the hips, away from rest, metres.
    pub(super) hips: Vec3,
}

impl Pose {
    pub(super) fn rest() -> Self {
        Self {
            delta: [Quat::IDENTITY; JOINTS],
            hips: Vec3::ZERO,
        }
    }

    /// U of a joint.
    pub(super) fn turn(&self, rest: &[RestJoint], joint: usize) -> Quat {
        let parent = rest[joint]
            .parent
            .map_or(Quat::IDENTITY, |parent| self.turn(rest, parent));
        parent * self.delta[joint]
    }

    /// Bends the leg so that the ankle comes to `ankle` and the foot turns by `foot` (both in
    /// character space), the knee towards `forward`.
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
        self.delta[side.of(Part::UpperLeg)] = hips.inverse() * thigh;
        self.delta[side.of(Part::LowerLeg)] = thigh.inverse() * shin;
        self.delta[side.of(Part::Foot)] = shin.inverse() * foot;
    }

    /// Sets the foot by how it stands: `at` is where its sole would stand flat (character space, 0
    /// at rest), `pitch` (radians) raises the heel over the ball or, if negative, the toes over the
    /// heel, `out` turns the toes outward, `toes` bends them up.
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
        self.delta[side.of(Part::Toes)] = Quat::from_rotation_x(-toes);
    }

    /// Lets the twist helpers follow the arm and the hand.
    pub(super) fn follow_twist(&mut self) {
        for side in Side::BOTH {
            let along = on_side(side, rig::ARM);
            let twist = |delta: Quat| {
                2.0 * f32::atan2(Vec3::new(delta.x, delta.y, delta.z).dot(along), delta.w)
            };
            let wrap = |angle: f32| {
                angle - core::f32::consts::TAU * (angle / core::f32::consts::TAU).round()
            };
            let upper = wrap(twist(self.delta[side.of(Part::UpperArm)]));
            let hand = wrap(twist(self.delta[side.of(Part::Hand)]));
            self.delta[side.of(Part::UpperArmTwist)] = Quat::from_axis_angle(along, -0.75 * upper);
            self.delta[side.of(Part::LowerArmTwist)] = Quat::from_axis_angle(along, 0.5 * hand);
        }
    }
}

/// Where the heel touches the ground, metres.
const HEEL_Z: f32 = -0.086;

/// How an arm is held, radians: out from the body, to the front, elbow bend, and how far the
/// fingers curl.
#[derive(Clone, Copy)]
pub(super) struct Arm {
    pub(super) out: f32,
    pub(super) forward: f32,
    pub(super) inward: f32,
    pub(super) elbow: f32,
    pub(super) curl: f32,
}

impl Pose {
    /// Holds an arm that hangs down and is swung from there.
    pub(super) fn hold(&mut self, side: Side, arm: Arm) {
        let s = side.sign();
        // From 45° at rest to hanging straight down, then outward again.
        let lower = Quat::from_rotation_z(-s * (core::f32::consts::FRAC_PI_4 - arm.out));
        let swing = Quat::from_rotation_x(-arm.forward);
        let inward = Quat::from_rotation_y(-s * arm.inward);
        self.delta[side.of(Part::UpperArm)] = swing * inward * lower;
        self.bend_elbow(side, arm.elbow);
        self.curl(side, arm.curl);
    }

    /// Bends the elbow about its own hinge.
    pub(super) fn bend_elbow(&mut self, side: Side, angle: f32) {
        let along = on_side(side, rig::ARM);
        self.delta[side.of(Part::LowerArm)] =
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
                self.delta[side.of(Part::Finger(index)) + bone] =
                    Quat::from_axis_angle(hinge, angle * part);
            }
        }
    }
}
