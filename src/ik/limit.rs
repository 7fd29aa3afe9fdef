//! Limits of a joint's rotation from its rest rotation.

use super::job::expect_axis;
use super::maths::{angle_about, arc, turn_about, unit};
use crate::error::{Result, expect_in};
use core::f32::consts::{PI, TAU};
use glam::{Mat3, Quat, Vec3};

/// A limit of a joint's rotation from its rest rotation.
///
/// Axes are in the joint's own space. Angles are in radians from the rest pose, right-handed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum JointLimit {
    /// No limit.
    #[default]
    Free,
    /// A swing cone with a twist range, such as a shoulder or a vertebra.
    ///
    /// `axis`, usually along the bone, leaves its rest direction by at most `swing_rad`. The joint
    /// turns about it by `twist_rad.0..=twist_rad.1` (the swing-twist decomposition: rotation =
    /// rest · swing · twist).
    Cone {
        /// The axis that swings, and that the joint twists about.
        axis: Vec3,
        /// The largest swing, in 0..=π.
        swing_rad: f32,
        /// The smallest and largest twist, in -π..=π.
        twist_rad: (f32, f32),
    },
    /// A hinge, such as a knee: turns only about `axis`, by `angle_rad.0..=angle_rad.1`.
    Hinge {
        /// The axis that the joint turns about.
        axis: Vec3,
        /// The smallest and largest angle, in -π..=π.
        angle_rad: (f32, f32),
    },
}

impl JointLimit {
    pub(super) fn validate(&self) -> Result<()> {
        let range = |what, (min, max): (f32, f32)| {
            expect_in(what, min, -PI, PI)?;
            expect_in(what, max, min, PI)
        };
        match *self {
            Self::Free => Ok(()),
            Self::Cone {
                axis,
                swing_rad,
                twist_rad,
            } => {
                expect_axis("JointLimit::Cone::axis", axis)?;
                expect_in("JointLimit::Cone::swing_rad", swing_rad, 0.0, PI)?;
                range("JointLimit::Cone::twist_rad", twist_rad)
            }
            Self::Hinge { axis, angle_rad } => {
                expect_axis("JointLimit::Hinge::axis", axis)?;
                range("JointLimit::Hinge::angle_rad", angle_rad)
            }
        }
    }

    /// The allowed local rotation that is nearest to `rotation`.
    pub(super) fn held(&self, rest: Quat, rotation: Quat) -> Quat {
        let from_rest = rest.conjugate() * rotation;
        match *self {
            Self::Free => rotation,
            Self::Hinge { axis, angle_rad } => {
                let axis = unit(axis).unwrap_or(Vec3::X);
                let angle = held_angle(twist_angle(from_rest, axis), angle_rad);
                (rest * turn_about(axis, angle)).normalize()
            }
            Self::Cone {
                axis,
                swing_rad,
                twist_rad,
            } => {
                let axis = unit(axis).unwrap_or(Vec3::X);
                let angle = twist_angle(from_rest, axis);
                let swing = from_rest * turn_about(axis, -angle);
                let swing = held_swing(swing, swing_rad);
                let twist = turn_about(axis, held_angle(angle, twist_rad));
                (rest * swing * twist).normalize()
            }
        }
    }

    /// The axes that the joint may turn about, in its parent's space, as columns.
    pub(super) fn axes(&self, rest: Quat) -> Mat3 {
        match *self {
            Self::Hinge { axis, .. } => {
                let axis = rest * unit(axis).unwrap_or(Vec3::X);
                Mat3::from_cols(axis, Vec3::ZERO, Vec3::ZERO)
            }
            _ => Mat3::IDENTITY,
        }
    }

    /// Turns the joint from `rotation` so that `from` comes as near to `to` as the limit allows.
    ///
    /// Both are in the parent's space, relative to the joint, and `from` moves with the joint.
    pub(super) fn turned(&self, rest: Quat, rotation: Quat, from: Vec3, to: Vec3) -> Quat {
        let turned = match *self {
            Self::Hinge { axis, angle_rad } => {
                let axis = unit(axis).unwrap_or(Vec3::X);
                angle_about(rest * axis, from, to).map(|more| {
                    let angle = twist_angle(rest.conjugate() * rotation, axis) + more;
                    rest * turn_about(axis, held_angle(angle, angle_rad))
                })
            }
            _ => {
                let directions = unit(from).zip(unit(to));
                directions.map(|(from, to)| self.held(rest, arc(from, to, None) * rotation))
            }
        };
        let turned = turned.map(Quat::normalize);
        turned.filter(|q| q.is_finite()).unwrap_or(rotation)
    }

    /// Moves a little away from `rotation`, for chains that are stuck in a straight line.
    ///
    /// A hinge turns towards the middle of its range. Other joints turn about any axis that is
    /// perpendicular to the bone.
    pub(super) fn nudged(&self, rest: Quat, rotation: Quat, bone: Vec3, most_rad: f32) -> Quat {
        let nudged = match *self {
            Self::Hinge {
                axis,
                angle_rad: (min, max),
            } => {
                let axis = unit(axis).unwrap_or(Vec3::X);
                let angle = twist_angle(rest.conjugate() * rotation, axis);
                let part = most_rad.abs().min(1.0);
                rest * turn_about(axis, angle + part * (0.5 * (min + max) - angle))
            }
            _ => {
                let axis = unit(bone).unwrap_or(Vec3::X).any_orthonormal_vector();
                self.held(rest, turn_about(axis, most_rad) * rotation)
            }
        };
        nudged.normalize()
    }
}

/// The twist angle of `q` about the unit vector `axis`, in -π..=π.
///
/// 0 if the swing is half a turn.
fn twist_angle(q: Quat, axis: Vec3) -> f32 {
    let along = q.xyz().dot(axis);
    if along == 0.0 && q.w == 0.0 {
        return 0.0;
    }
    wrapped(2.0 * along.atan2(q.w))
}

/// The same angle in -π..=π.
fn wrapped(angle: f32) -> f32 {
    angle - TAU * (angle / TAU).round()
}

/// The angle in the range that is nearest on the circle.
fn held_angle(angle: f32, (min, max): (f32, f32)) -> f32 {
    let angle = wrapped(angle);
    if (min..=max).contains(&angle) {
        return angle;
    }
    if wrapped(angle - min).abs() < wrapped(angle - max).abs() {
        min
    } else {
        max
    }
}

fn held_swing(swing: Quat, most: f32) -> Quat {
    let swing = if swing.w < 0.0 { -swing } else { swing };
    let axis = swing.xyz();
    let angle = 2.0 * axis.length().atan2(swing.w);
    if angle <= most {
        return swing;
    }
    unit(axis).map_or(Quat::IDENTITY, |axis| turn_about(axis, most))
}
