//! Walking and running: each foot follows a path, the leg follows the foot, the rest balances.

use super::pose::{Arm, Pose, wave_of};
use super::rig::{BodyPart, CHEST, HEAD, HIPS, NECK, RestJoint, SPINE, Side, UPPER_CHEST};
use throng::glam::{Quat, Vec3};

/// Duration of a walk cycle in seconds, between touchdowns of the left foot.
pub(super) const WALK_S: f32 = 1.1;
/// Duration of a run cycle in seconds, between touchdowns of the left foot.
pub(super) const RUN_S: f32 = 0.7;
/// Ground speed of the walk at playback speed 1, in metres per second.
pub const WALK_M_S: f32 = 1.2;
/// Ground speed of the run at playback speed 1, in metres per second.
pub const RUN_M_S: f32 = 3.1;

/// A value over the phase of a cycle: pairs of phase (from 0, less than 1) and value.
type Curve = [(f32, f32)];

/// Evaluates the curve through the pairs, closed at 1.
///
/// The slopes are those of F. Fritsch and J. Butland (1984), which never overshoot.
fn at(curve: &Curve, phase: f32) -> f32 {
    let n = curve.len() as isize;
    let key = |i: isize| {
        let (x, y) = curve[i.rem_euclid(n) as usize];
        (x + i.div_euclid(n) as f32, y)
    };
    let slope = |i: isize| {
        let ((x0, y0), (x1, y1), (x2, y2)) = (key(i - 1), key(i), key(i + 1));
        let (before, after) = ((y1 - y0) / (x1 - x0), (y2 - y1) / (x2 - x1));
        if before * after <= 0.0 {
            0.0
        } else {
            2.0 * before * after / (before + after)
        }
    };
    let phase = phase.rem_euclid(1.0);
    let i = curve.partition_point(|(x, _)| *x <= phase) as isize - 1;
    let ((x0, y0), (x1, y1)) = (key(i), key(i + 1));
    let h = x1 - x0;
    let u = (phase - x0) / h;
    let (u2, u3) = (u * u, u * u * u);
    y0 * (2.0 * u3 - 3.0 * u2 + 1.0)
        + y1 * (3.0 * u2 - 2.0 * u3)
        + h * (slope(i) * (u3 - 2.0 * u2 + u) + slope(i + 1) * (u3 - u2))
}

/// The path of one foot over its own cycle, which begins when it touches the ground.
struct Steps {
    /// Fraction of the cycle during which the foot is on the ground.
    stance: f32,
    /// Distance ahead of the hips at touchdown, in metres.
    ahead_m: f32,
    /// Distance that the ground moves in a cycle, in metres.
    stride_m: f32,
    /// Height of the foot above the ground, in metres.
    height_m: &'static Curve,
    /// Pitch of the foot in degrees. Positive values raise the heel.
    pitch: &'static Curve,
    /// Bend of the toes, as a fraction of the raised heel's pitch.
    toes: &'static Curve,
}

impl Steps {
    /// Position of the foot along the way, in metres ahead of the hips.
    fn along(&self, phase: f32) -> f32 {
        let leave = self.ahead_m - self.stance * self.stride_m;
        if phase < self.stance {
            return self.ahead_m - phase * self.stride_m;
        }
        let u = (phase - self.stance) / (1.0 - self.stance);
        // A Hermite curve with the ground's velocity at both ends.
        let ground = -self.stride_m * (1.0 - self.stance);
        let (u2, u3) = (u * u, u * u * u);
        leave * (2.0 * u3 - 3.0 * u2 + 1.0)
            + self.ahead_m * (3.0 * u2 - 2.0 * u3)
            + ground * (2.0 * u3 - 3.0 * u2 + u)
    }

    fn place(
        &self,
        pose: &mut Pose,
        rest: &[RestJoint],
        side: Side,
        phase: f32,
        inward_m: f32,
        out: f32,
    ) {
        let pitch = at(self.pitch, phase).to_radians();
        let toes = pitch.max(0.0) * at(self.toes, phase);
        let at = Vec3::new(
            -inward_m * side.sign(),
            at(self.height_m, phase),
            self.along(phase),
        );
        pose.stand(rest, side, at, [pitch, out, toes]);
    }
}

#[rustfmt::skip]
const WALK: Steps = Steps {
    stance: 0.62,
    ahead_m: 0.345,
    stride_m: WALK_S * WALK_M_S,
    height_m: &[
        (0.0, 0.0), (0.62, 0.0), (0.67, 0.030), (0.75, 0.050), (0.86, 0.034), (0.95, 0.014),
    ],
    pitch: &[
        (0.0, -20.0), (0.05, -11.0), (0.11, 0.0), (0.32, 0.0), (0.42, 9.0), (0.53, 34.0),
        (0.62, 60.0), (0.69, 62.0), (0.79, 30.0), (0.89, -8.0), (0.96, -20.0),
    ],
    toes: &[(0.0, 0.0), (0.3, 1.0), (0.60, 1.0), (0.66, 0.85), (0.78, 0.2), (0.9, 0.0)],
};

#[rustfmt::skip]
const RUN: Steps = Steps {
    stance: 0.34,
    ahead_m: 0.235,
    stride_m: RUN_S * RUN_M_S,
    height_m: &[
        (0.0, 0.0), (0.34, 0.0), (0.45, 0.20), (0.56, 0.34), (0.68, 0.30), (0.82, 0.14),
        (0.93, 0.045),
    ],
    pitch: &[
        (0.0, -8.0), (0.05, 0.0), (0.14, 0.0), (0.22, 14.0), (0.34, 62.0), (0.44, 90.0),
        (0.54, 100.0), (0.66, 66.0), (0.80, 14.0), (0.92, -10.0),
    ],
    toes: &[(0.0, 0.0), (0.12, 1.0), (0.33, 1.0), (0.44, 0.15), (0.8, 0.0)],
};

/// Lowers the shoulders a little from their rest pose, in which the arms are half raised.
fn relaxed(side: Side) -> Quat {
    Quat::from_rotation_z(-0.035 * side.sign())
}

pub(super) fn walk(rest: &[RestJoint], phase: f32) -> Pose {
    let mut pose = Pose::rest();
    let leg = wave_of(phase, -0.25); // 1 when the left leg is ahead
    let bob = wave_of(2.0 * phase, 0.39);
    pose.hips = Vec3::new(
        0.022 * wave_of(phase, 0.07),
        -0.023 + 0.013 * bob,
        0.006 * wave_of(2.0 * phase, 0.0),
    );
    let list = 0.055 * wave_of(phase, -0.07);
    pose.delta[HIPS] = Quat::from_rotation_y(-0.11 * leg)
        * Quat::from_rotation_z(list)
        * Quat::from_rotation_x(0.04);
    pose.delta[SPINE] = Quat::from_rotation_y(0.07 * leg)
        * Quat::from_rotation_z(-0.5 * list)
        * Quat::from_rotation_x(0.01);
    pose.delta[CHEST] = Quat::from_rotation_y(0.08 * leg) * Quat::from_rotation_z(-0.6 * list);
    pose.delta[UPPER_CHEST] =
        Quat::from_rotation_y(0.07 * leg) * Quat::from_rotation_x(-0.01 + 0.012 * bob);
    pose.delta[NECK] = Quat::from_rotation_y(-0.05 * leg) * Quat::from_rotation_x(0.03);
    pose.delta[HEAD] =
        Quat::from_rotation_y(-0.05 * leg) * Quat::from_rotation_x(-0.06 - 0.015 * bob);
    for side in Side::BOTH {
        let own = if side == Side::Left {
            phase
        } else {
            phase + 0.5
        };
        let swing = -wave_of(own, -0.23);
        let late = -wave_of(own, -0.16);
        pose.delta[side.of(BodyPart::Shoulder)] =
            relaxed(side) * Quat::from_rotation_y(-side.sign() * 0.05 * swing);
        let arm = Arm {
            out: 0.165,
            forward: 0.06 + 0.40 * swing,
            inward: 0.09,
            elbow: 0.36 + 0.20 * late,
            curl: 0.42,
        };
        pose.hold(side, arm);
        WALK.place(&mut pose, rest, side, own.fract(), 0.030, 0.09);
    }
    pose
}

pub(super) fn run(rest: &[RestJoint], phase: f32) -> Pose {
    let mut pose = Pose::rest();
    let leg = wave_of(phase, -0.20);
    let bob = wave_of(2.0 * phase, 0.295);
    pose.hips = Vec3::new(0.010 * wave_of(phase, 0.0), -0.055 + 0.034 * bob, -0.02);
    let list = 0.06 * wave_of(phase, -0.05);
    pose.delta[HIPS] = Quat::from_rotation_y(-0.16 * leg)
        * Quat::from_rotation_z(list)
        * Quat::from_rotation_x(0.16);
    pose.delta[SPINE] = Quat::from_rotation_y(0.12 * leg)
        * Quat::from_rotation_z(-0.5 * list)
        * Quat::from_rotation_x(0.03);
    pose.delta[CHEST] = Quat::from_rotation_y(0.14 * leg)
        * Quat::from_rotation_z(-0.5 * list)
        * Quat::from_rotation_x(0.03);
    pose.delta[UPPER_CHEST] =
        Quat::from_rotation_y(0.13 * leg) * Quat::from_rotation_x(0.02 - 0.02 * bob);
    pose.delta[NECK] = Quat::from_rotation_y(-0.11 * leg) * Quat::from_rotation_x(-0.06);
    pose.delta[HEAD] =
        Quat::from_rotation_y(-0.10 * leg) * Quat::from_rotation_x(-0.12 + 0.02 * bob);
    for side in Side::BOTH {
        let own = if side == Side::Left {
            phase
        } else {
            phase + 0.5
        };
        let swing = -wave_of(own, -0.20);
        let late = -wave_of(own, -0.12);
        pose.delta[side.of(BodyPart::Shoulder)] =
            relaxed(side) * Quat::from_rotation_y(-side.sign() * 0.10 * swing);
        let arm = Arm {
            out: 0.25,
            forward: -0.06 + 0.72 * swing,
            inward: 0.10 + 0.14 * swing,
            elbow: 1.55 + 0.22 * late,
            curl: 0.95,
        };
        pose.hold(side, arm);
        RUN.place(&mut pose, rest, side, own.fract(), 0.050, 0.04);
    }
    pose
}
