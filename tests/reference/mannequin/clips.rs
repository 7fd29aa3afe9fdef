//! The built-in clips: functions from phase to pose, sampled into keys.

use super::pose::{Arm, Pose, wave_of};
use super::rig::{BodyPart, CHEST, HEAD, HIPS, NECK, RestJoint, SPINE, Side, UPPER_CHEST};
use super::{gait, rig};
use crate::raws::{animation, linear};
use throng::glam::{Quat, Vec3};
use throng::import::{RawAnimation, RawKeys};

/// A clip before sampling: name, duration in seconds, keys, and the pose at a phase from 0 to 1.
struct Source {
    name: &'static str,
    duration_s: f32,
    keys: usize,
    pose: fn(&[RestJoint], f32) -> Pose,
}

#[rustfmt::skip]
const SOURCES: [Source; 4] = [
    Source { name: "Idle", duration_s: 4.0, keys: 80, pose: idle },
    Source { name: "Walk", duration_s: gait::WALK_S, keys: 34, pose: gait::walk },
    Source { name: "Run", duration_s: gait::RUN_S, keys: 28, pose: gait::run },
    Source { name: "Wave", duration_s: 2.0, keys: 60, pose: wave },
];

pub(super) fn animations(rest: &[RestJoint]) -> Vec<RawAnimation> {
    SOURCES.iter().map(|source| sample(source, rest)).collect()
}

/// Samples a clip at evenly spaced keys. The last key repeats the first, bit by bit.
fn sample(source: &Source, rest: &[RestJoint]) -> RawAnimation {
    let poses: Vec<_> = (0..=source.keys)
        .map(|key| {
            let mut pose = (source.pose)(rest, (key % source.keys) as f32 / source.keys as f32);
            pose.follow_twist();
            pose
        })
        .collect();
    let times_s: Vec<_> = (0..=source.keys)
        .map(|key| source.duration_s * key as f32 / source.keys as f32)
        .collect();
    let mut channels = vec![linear(
        HIPS,
        times_s.clone(),
        RawKeys::Translation(
            poses
                .iter()
                .map(|pose| rest[HIPS].position + pose.hips)
                .collect(),
        ),
    )];
    for (joint, joint_rest) in rest.iter().enumerate().skip(HIPS) {
        let parent = joint_rest
            .parent
            .map_or(Quat::IDENTITY, |parent| rest[parent].axes);
        let mut last = Quat::IDENTITY;
        let values = poses.iter().map(|pose| {
            let q = (parent.inverse() * pose.delta[joint] * joint_rest.axes).normalize();
            last = if last.dot(q) < 0.0 { -q } else { q };
            last
        });
        let values: Vec<_> = values.collect();
        let still = values.iter().all(|q| *q == values[0]);
        let kept = if still { 1 } else { values.len() };
        channels.push(linear(
            joint,
            times_s[..kept].to_vec(),
            RawKeys::Rotation(values[..kept].to_vec()),
        ));
    }
    animation(source.name, channels)
}

/// The basis of all standing clips: weight on the left foot, breathing, arms at the sides.
fn standing(rest: &[RestJoint], phase: f32, breaths: f32) -> Pose {
    let mut pose = Pose::rest();
    let sway = wave_of(phase, 0.0);
    let breath = wave_of(phase * breaths, 0.1);
    pose.hips = Vec3::new(
        0.012 + 0.012 * sway,
        -0.0042 - 0.0008 * wave_of(2.0 * phase, 0.2),
        0.0,
    );
    pose.delta[HIPS] =
        Quat::from_rotation_z(0.018 + 0.016 * sway) * Quat::from_rotation_y(0.02 * sway);
    pose.delta[SPINE] = Quat::from_rotation_z(-0.016 - 0.012 * sway) * Quat::from_rotation_x(0.012);
    pose.delta[CHEST] = Quat::from_rotation_x(-0.014 - 0.010 * breath);
    pose.delta[UPPER_CHEST] = Quat::from_rotation_x(0.008 - 0.010 * breath)
        * Quat::from_rotation_z(-0.004 - 0.006 * sway);
    pose.delta[NECK] = Quat::from_rotation_x(0.02 + 0.012 * breath);
    for side in Side::BOTH {
        let lift = -0.045 + 0.018 * breath;
        pose.delta[side.of(BodyPart::Shoulder)] = Quat::from_rotation_z(side.sign() * lift);
        let late = wave_of(phase, 0.12) * 0.02;
        pose.hold(
            side,
            Arm {
                out: 0.155 + 0.012 * breath,
                forward: 0.03 + late,
                inward: 0.08,
                elbow: 0.22 + late,
                curl: 0.34,
            },
        );
        pose.stand(
            rest,
            side,
            rig::on_side(side, Vec3::new(0.004, 0.0, 0.0)),
            [0.0, 0.14, 0.0],
        );
    }
    pose
}

fn idle(rest: &[RestJoint], phase: f32) -> Pose {
    let mut pose = standing(rest, phase, 1.0);
    let look = 0.16 * wave_of(phase, 0.2) + 0.05 * wave_of(2.0 * phase, 0.0);
    pose.delta[NECK] *= Quat::from_rotation_y(0.4 * look);
    pose.delta[HEAD] =
        Quat::from_rotation_y(0.6 * look) * Quat::from_rotation_x(0.02 * wave_of(2.0 * phase, 0.4));
    pose
}

fn wave(rest: &[RestJoint], phase: f32) -> Pose {
    let mut pose = standing(rest, phase, 1.0);
    let swing = wave_of(3.0 * phase, 0.0);
    let late = wave_of(3.0 * phase, 0.16);
    let side = Side::Right;
    pose.delta[side.of(BodyPart::Shoulder)] =
        Quat::from_rotation_z(-0.20) * Quat::from_rotation_y(0.06);
    let along = Vec3::new(-0.88, -0.14 + 0.03 * swing, 0.34).normalize();
    let hinge_up = Vec3::new(-0.10, 1.0, 0.12);
    let upper = rig::axes(along, hinge_up) * rest[side.of(BodyPart::UpperArm)].axes.inverse();
    let chest = pose.turn(rest, side.of(BodyPart::Shoulder));
    pose.delta[side.of(BodyPart::UpperArm)] = chest.inverse() * upper;
    pose.bend_elbow(side, 1.82 + 0.34 * swing);
    // The hand lags behind the forearm, about the axis through the palm.
    let palm = rig::on_side(side, rig::PALM);
    pose.delta[side.of(BodyPart::Hand)] = Quat::from_axis_angle(palm, 0.22 * late);
    pose.curl(side, 0.10);
    pose.delta[NECK] *= Quat::from_rotation_z(-0.05) * Quat::from_rotation_y(-0.05);
    pose.delta[HEAD] = Quat::from_rotation_z(-0.07 - 0.02 * swing)
        * Quat::from_rotation_y(-0.05)
        * Quat::from_rotation_x(-0.02);
    pose
}
