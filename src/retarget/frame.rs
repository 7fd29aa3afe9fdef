//! Model poses in `f64`, and the orientation of a body in them.

use super::humanoid::Humanoid;
use crate::skeleton::role::{Role, Side};
use crate::skeleton::{NO_PARENT, Skeleton, Transform};
use glam::{DAffine3, DMat3, DQuat, DVec3};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ModelJoint {
    /// The product of the rotations from the root on, flips included; see [`turn`].
    pub(super) rotation: DQuat,
    /// Maps the joint's space to model space.
    pub(super) affine: DAffine3,
}

impl ModelJoint {
    pub(super) const ORIGIN: Self = Self {
        rotation: DQuat::IDENTITY,
        affine: DAffine3::IDENTITY,
    };

    /// The joint below this one.
    pub(super) fn child(&self, local: &Transform) -> Self {
        let (t, r, s) = (local.translation, local.rotation, local.scale);
        let rotation = r.as_dquat().normalize();
        Self {
            rotation: (self.rotation * rotation * turn(local)).normalize(),
            affine: self.affine
                * DAffine3::from_scale_rotation_translation(s.as_dvec3(), rotation, t.as_dvec3()),
        }
    }

    pub(super) fn position(&self) -> DVec3 {
        self.affine.translation
    }
}

/// The rotation that is contained in a scale.
///
/// Two negative factors are half a turn. Three negative factors invert all axes. This is not a
/// rotation, but it commutes with any rotation. One negative factor is therefore half a turn and an
/// inversion. Inversions cancel out of the change of a rotation.
pub(super) fn turn(local: &Transform) -> DQuat {
    let negative = local.scale.cmplt(glam::Vec3::ZERO);
    let mut signs = [negative.x, negative.y, negative.z];
    if signs.iter().filter(|negative| **negative).count() % 2 == 1 {
        signs = signs.map(|negative| !negative);
    }
    match signs {
        [false, true, true] => DQuat::from_xyzw(1.0, 0.0, 0.0, 0.0),
        [true, false, true] => DQuat::from_xyzw(0.0, 1.0, 0.0, 0.0),
        [true, true, false] => DQuat::from_xyzw(0.0, 0.0, 1.0, 0.0),
        _ => DQuat::IDENTITY,
    }
}

/// Computes the model pose of a local pose, for as many joints as both have.
pub(super) fn model_pose(skeleton: &Skeleton, local: &[Transform], out: &mut Vec<ModelJoint>) {
    out.clear();
    for (joint, local) in skeleton.joints().iter().zip(local) {
        let parent = match joint.parent_index() {
            NO_PARENT => ModelJoint::ORIGIN,
            parent => out[usize::from(parent)],
        };
        out.push(parent.child(local));
    }
}

/// The rotation from one humanoid's orientation in its model space to another's.
///
/// It compares up and left. Model spaces differ by quarter turns, but bodies are built differently.
/// A rotation within 30° of a combination of quarter turns is therefore replaced by that.
pub(super) fn turn_between(from: Option<DMat3>, to: Option<DMat3>) -> DQuat {
    let (Some(from), Some(to)) = (from, to) else {
        return DQuat::IDENTITY;
    };
    let turn = to * from.transpose();
    let (near, trace) = nearest_quarters(&turn);
    // A trace of 1 + 2 cos 30°.
    let turn = if trace > 2.732 { near } else { turn };
    DQuat::from_mat3(&turn).normalize()
}

/// The nearest of the 24 rotations by quarter turns, and the trace of the remaining rotation.
fn nearest_quarters(turn: &DMat3) -> (DMat3, f64) {
    let axes = [DVec3::X, DVec3::Y, DVec3::Z];
    let mut best = (DMat3::IDENTITY, f64::NEG_INFINITY);
    for x in 0..6 {
        for y in 0..6 {
            let axis = |at: usize| axes[at % 3] * if at < 3 { 1.0 } else { -1.0 };
            if x % 3 != y % 3 {
                let quarters = DMat3::from_cols(axis(x), axis(y), axis(x).cross(axis(y)));
                let left = quarters.transpose() * *turn;
                let trace = left.x_axis.x + left.y_axis.y + left.z_axis.z;
                if trace > best.1 {
                    best = (quarters, trace);
                }
            }
        }
    }
    best
}

/// The left, up and front directions of a humanoid, as columns.
pub(super) fn body(humanoid: &Humanoid, placed: &[ModelJoint]) -> Option<DMat3> {
    let at = |role| Some(placed.get(usize::from(humanoid.joint(role)?))?.position());
    let pair = |left: Role| Some(at(left)? - at(left.mirrored())?);
    let middle = |left: Role| Some((at(left)? + at(left.mirrored())?) * 0.5);
    let low = at(Role::Hips).or_else(|| middle(Role::LeftUpperLeg))?;
    let high = at(Role::Head).or_else(|| at(Role::Neck));
    let high = high.or_else(|| middle(Role::LeftUpperArm))?;
    let left = pair(Role::LeftUpperLeg).or_else(|| pair(Role::LeftUpperArm))?;
    let up = (high - low).try_normalize()?;
    let left = (left - up * left.dot(up)).try_normalize()?;
    Some(DMat3::from_cols(left, up, left.cross(up)))
}

/// The length of the legs from hip to ankle, the mean of both sides.
pub(super) fn leg_length(humanoid: &Humanoid, placed: &[ModelJoint]) -> Option<f64> {
    let at = |role| Some(placed.get(usize::from(humanoid.joint(role)?))?.position());
    let leg = |side| {
        let [hip, knee, ankle] = [Role::LeftUpperLeg, Role::LeftLowerLeg, Role::LeftFoot];
        let [hip, knee, ankle] = [hip, knee, ankle].map(|role| at(role.on(side)));
        Some(hip?.distance(knee?) + knee?.distance(ankle?))
    };
    let legs: Vec<f64> = Side::BOTH.into_iter().filter_map(leg).collect();
    let count = legs.len();
    (count > 0).then(|| legs.iter().sum::<f64>() / count as f64)
}
