//! The job of aiming: the rotations that point an axis at a target, and the miss angle.

use super::aim::{Aim, AimTarget};
use super::job::{IkJob, IkPose, expect_axis};
use super::maths::{
    angle_about, angle_between, arc, blend, direction, inverse, length, part_of, sense, turn_about,
    turned, unit,
};
use super::report::IkReport;
use crate::error::{Error, Result, expect_all_finite, expect_cap, expect_finite, expect_in};
use crate::skeleton::Skeleton;
use core::f32::consts::{PI, TAU};
use glam::{Affine3A, DVec3, Quat, Vec3};

/// A target nearer to the eye than this fraction of the coordinates involved counts as on the eye.
///
/// Its direction would be rounding noise.
const ON_THE_EYE: f64 = 1e-5;
/// Rounding error of a miss angle, relative to the angle and to a coordinate seen from the
/// distance.
const ROUNDING_RAD: f64 = 1e-6;
/// The number of times that the weight is halved if the miss is too large.
const HALVINGS: usize = 12;

pub(super) type Rotations = [Quat; Aim::MAX_JOINTS];

/// The angle by which the forward axis misses the target.
#[derive(Clone, Copy)]
pub(super) struct Miss {
    pub(super) angle_rad: f32,
    rounding_rad: f64,
}

impl Miss {
    /// True if the miss is less than a thousandth of a radian, or within rounding.
    pub(super) fn is_none(&self) -> bool {
        f64::from(self.angle_rad) <= 1e-3 + self.rounding_rad
    }

    /// True if the miss is larger than `other` by more than rounding.
    fn exceeds(&self, other: &Self) -> bool {
        let rounding_rad = self.rounding_rad + other.rounding_rad;
        f64::from(self.angle_rad) > f64::from(other.angle_rad) + rounding_rad
    }
}

/// The goal of one joint, in the space of its parent.
struct Aimed {
    /// Maps the last joint's space to this joint's parent space.
    carried: Affine3A,
    joint: Vec3,
    goal: Vec3,
    up: Option<Vec3>,
    /// The whole twist, and the twist that the joints above this one have left.
    twist_rad: [f32; 2],
}

/// The turn of a joint: a swing, then a roll of `roll_rad` about `axis`, which points at the goal
/// once it is swung.
struct Turn {
    swing: Quat,
    axis: Vec3,
    roll_rad: f32,
}

impl Turn {
    fn part(&self, share: f32) -> Quat {
        let swing = if share < 1.0 {
            part_of(self.swing, share)
        } else {
            self.swing
        };
        if self.roll_rad == 0.0 {
            return swing;
        }
        swing * turn_about(self.axis, self.roll_rad * share)
    }
}

impl Aim {
    /// The offset and the forward axis, mapped by `affine` from the last joint's space.
    fn ray(&self, affine: &Affine3A) -> Option<(Vec3, Vec3)> {
        let forward = unit(direction(affine, self.forward))?;
        Some((affine.transform_point3(self.offset_m), forward))
    }

    /// The miss if the last joint is at `last`; 0 if the target lies on the eye.
    pub(super) fn miss(&self, target: Vec3, last: &Affine3A) -> Option<Miss> {
        let (eye, forward) = self.ray(last)?;
        let size = size(eye, target, last);
        let distance = length(target - eye);
        if !(size.is_finite() && distance.is_finite()) {
            return None;
        }
        if distance <= ON_THE_EYE * size {
            return Some(Miss {
                angle_rad: 0.0,
                rounding_rad: ROUNDING_RAD,
            });
        }
        Some(Miss {
            angle_rad: angle_between(forward, unit(target - eye)?),
            rounding_rad: ROUNDING_RAD * (1.0 + size / distance),
        })
    }

    /// The target, moved into the cone of the limit.
    fn held(&self, target: Vec3, last: &Affine3A) -> Option<Vec3> {
        let (eye, forward) = self.ray(last)?;
        let to_target = target - eye;
        let Some(wanted) = unit(to_target) else {
            return Some(target);
        };
        if length(to_target) <= ON_THE_EYE * size(eye, target, last) {
            return Some(target);
        }
        let angle = angle_between(forward, wanted);
        if angle <= self.limit_rad {
            return Some(target);
        }
        let way = part_of(arc(forward, wanted, None), self.limit_rad / angle) * forward;
        Some(eye + way * to_target.length().min(1e6))
    }

    /// The rotations that solve it, at full weight.
    pub(super) fn rotations(
        &self,
        skeleton: &Skeleton,
        target: &AimTarget,
        pose: &IkPose<'_>,
    ) -> Option<Rotations> {
        let (first, last) = (self.joints.first()?.0, self.joints.last()?.0);
        let goal = self.held(target.position, &pose.model[usize::from(last)])?;
        let mut solved = [Quat::IDENTITY; Aim::MAX_JOINTS];
        let mut parent = skeleton.parent_model(first, pose.model);
        let mut left: f32 = self.joints.iter().map(|own| own.1).sum();
        let mut twist_left = target.twist_rad;
        for (at, (joint, share)) in self.joints.iter().enumerate() {
            let local = &pose.local[usize::from(*joint)];
            let to_parent = inverse(&parent)?;
            let below = if *joint == last {
                Affine3A::IDENTITY
            } else {
                let between = skeleton.between(pose.local, *joint, last);
                between * pose.local[usize::from(last)].to_affine()
            };
            let aimed = Aimed {
                carried: turned(local, local.rotation) * below,
                joint: local.translation,
                goal: to_parent.transform_point3(goal),
                up: target.up.map(|up| direction(&to_parent, up)),
                twist_rad: [target.twist_rad, twist_left].map(|twist| twist * sense(&parent)),
            };
            let part = if *joint == last { 1.0 } else { share / left };
            let part = part.clamp(0.0, 1.0);
            let turn = match self.turn(&aimed)? {
                Some(turn) => {
                    twist_left *= 1.0 - part;
                    turn.part(part)
                }
                None => Quat::IDENTITY,
            };
            left -= share;
            solved[at] = (turn * local.rotation).normalize();
            if let Some((next, _)) = self.joints.get(at + 1) {
                parent = parent
                    * turned(local, solved[at])
                    * skeleton.between(pose.local, *joint, *next);
            }
        }
        let finite = solved.iter().all(|rotation| rotation.is_finite());
        finite.then_some(solved)
    }

    /// The turn about a joint that makes the forward axis point at the goal.
    ///
    /// It is in the space of the joint's parent. `Some(None)` if the goal lies on the joint, so
    /// that no turn changes anything. `None` if there is no numeric solution.
    fn turn(&self, aimed: &Aimed) -> Option<Option<Turn>> {
        let (eye, forward) = self.ray(&aimed.carried)?;
        let to_goal = aimed.goal - aimed.joint;
        let Some(goal) = unit(to_goal) else {
            return Some(None);
        };
        let size = length(aimed.joint) + length(aimed.goal);
        let Some(axis) = point_at(eye - aimed.joint, forward, to_goal, size) else {
            return Some(None);
        };
        let up = direction(&aimed.carried, self.up);
        let swing = arc(axis, goal, Some(up));
        let [twist_rad, twist_left] = aimed.twist_rad;
        let upright = aimed
            .up
            .and_then(|wanted| angle_about(goal, swing * up, wanted));
        let roll_rad = match upright {
            Some(roll) => (roll + twist_rad + PI).rem_euclid(TAU) - PI,
            None => twist_left,
        };
        Some(Some(Turn {
            swing,
            axis,
            roll_rad,
        }))
    }

    /// Blends from the pose's own rotations to the solved ones by a weight.
    pub(super) fn weighted(&self, solved: &Rotations, weight: f32, pose: &IkPose<'_>) -> Rotations {
        let mut rotations = *solved;
        for ((joint, _), rotation) in self.joints.iter().zip(&mut rotations) {
            let animated = pose.local[usize::from(*joint)].rotation;
            *rotation = blend(animated, *rotation, weight);
        }
        rotations
    }

    /// The largest weight up to `weight` at which the miss is not larger than in the pose.
    ///
    /// Found by halving.
    pub(super) fn safe_weight(
        &self,
        skeleton: &Skeleton,
        (target, weight): (Vec3, f32),
        solved: &Rotations,
        pose: &IkPose<'_>,
    ) -> Option<f32> {
        let last = self.joints.last()?.0.index();
        let before = self.miss(target, &pose.model[last])?;
        let is_worse = |weight: f32| {
            let last = self.last_model(skeleton, &self.weighted(solved, weight, pose), pose)?;
            Some(self.miss(target, &last)?.exceeds(&before))
        };
        if !is_worse(weight)? {
            return Some(weight);
        }
        let (mut good, mut bad) = (0.0, weight);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (good + bad);
            if is_worse(middle)? {
                bad = middle;
            } else {
                good = middle;
            }
        }
        Some(good)
    }

    /// The model matrix of the last joint with these rotations.
    fn last_model(
        &self,
        skeleton: &Skeleton,
        rotations: &Rotations,
        pose: &IkPose<'_>,
    ) -> Option<Affine3A> {
        let mut model = skeleton.parent_model(self.joints.first()?.0, pose.model);
        let mut above = None;
        for ((joint, _), rotation) in self.joints.iter().zip(rotations) {
            if let Some(above) = above {
                model *= skeleton.between(pose.local, above, *joint);
            }
            model *= turned(&pose.local[usize::from(*joint)], *rotation);
            above = Some(*joint);
        }
        Some(model)
    }
}

/// The sum of coordinate magnitudes that determines the rounding of the direction to the target.
fn size(eye: Vec3, target: Vec3, last: &Affine3A) -> f64 {
    length(eye) + length(target) + length(eye - Vec3::from(last.translation))
}

/// The direction from a joint that must turn onto the goal so that the ray passes through it.
///
/// If no turn achieves that, it is the direction with the smallest miss. `eye` and `goal` are
/// relative to the joint. `size_m` is the magnitude that determines their rounding.
fn point_at(eye: Vec3, forward: Vec3, goal: Vec3, size_m: f64) -> Option<Vec3> {
    /// A fraction of the coordinates below which a difference is rounding.
    const ROUNDING: f64 = 2e-6;
    let (eye, forward, goal) = (eye.as_dvec3(), forward.as_dvec3(), goal.as_dvec3());
    let (eye_m, goal_m) = (eye.length(), goal.length());
    let along = eye.dot(forward);
    let under = along * along + (goal_m - eye_m) * (goal_m + eye_m);
    let distance = under.max(0.0).sqrt() - along;
    if under >= 0.0 && distance >= 0.0 {
        let point: DVec3 = eye + forward * distance;
        return unit(point.try_normalize()?.as_vec3());
    }
    // Here the goal is nearer to the joint than the eye is.
    let outward = eye.try_normalize()?;
    if eye_m - goal_m <= ROUNDING * (size_m + eye_m) {
        // The eye itself moves onto the goal.
        return unit(outward.as_vec3());
    }
    let across = |v: DVec3| {
        let across = v - outward * v.dot(outward);
        (across.length() > 1e-4 * v.length()).then(|| across.normalize())
    };
    // If the ray points straight away from the joint, all sides are equal: use the nearest.
    let aside = across(forward)
        .or_else(|| across(goal))
        .unwrap_or_else(|| outward.any_orthonormal_vector());
    // The point where the tangent from the eye touches the sphere of the goal.
    let sine = goal_m / eye_m;
    let cosine = ((1.0 - sine) * (1.0 + sine)).max(0.0).sqrt();
    unit((outward * sine + aside * cosine).as_vec3())
}

impl Aim {
    /// The report when there is no solution.
    const NONE: IkReport = IkReport::Aim {
        reached: false,
        angle_rad: PI,
        weight: 0.0,
    };

    fn report(&self, target: Vec3, weight: f32, pose: &IkPose<'_>) -> IkReport {
        let last = self.joints.last().map(|last| last.0.index());
        let miss = last.and_then(|last| self.miss(target, &pose.model[last]));
        miss.map_or(Self::NONE, |miss| IkReport::Aim {
            reached: miss.is_none(),
            angle_rad: miss.angle_rad,
            weight,
        })
    }

    /// The solved rotations and the largest weight at which the miss does not increase.
    fn solved(
        &self,
        skeleton: &Skeleton,
        target: &AimTarget,
        pose: &IkPose<'_>,
    ) -> Option<(Rotations, f32)> {
        let full = self.rotations(skeleton, target, pose)?;
        let wanted = (target.position, target.weight);
        let weight = self.safe_weight(skeleton, wanted, &full, pose)?;
        Some((self.weighted(&full, weight, pose), weight))
    }
}

impl IkJob for Aim {
    type Target = AimTarget;

    /// Checks the joints, shares, axes and limit.
    ///
    /// There must be 1 to [`Aim::MAX_JOINTS`] joints, each below the one before it, with positive
    /// shares. The axes must have directions, and the limit must be in 0..=π.
    fn validate(&self, skeleton: &Skeleton) -> Result<()> {
        let (Some((first, _)), Some((last, _))) = (self.joints.first(), self.joints.last()) else {
            return Err(Error::length("Aim::joints", 0, 1));
        };
        expect_cap("joints of an aim", self.joints.len(), Aim::MAX_JOINTS)?;
        skeleton.expect_joint("joint of Aim::joints", *first)?;
        for pair in self.joints.windows(2) {
            skeleton.expect_below("joint of Aim::joints", pair[1].0, pair[0].0)?;
        }
        for (joint, share) in &self.joints {
            // At most 1e6, so that the sum neither overflows nor loses the small shares.
            expect_in("share in Aim::joints", *share, f32::MIN_POSITIVE, 1e6)
                .map_err(|why| skeleton.about_joint(*joint, why))?;
        }
        let axes = || {
            expect_axis("Aim::forward", self.forward)?;
            expect_axis("Aim::up", self.up)?;
            expect_all_finite("Aim::offset_m", self.offset_m.to_array())
        };
        axes().map_err(|why| skeleton.about_joint(*last, why))?;
        expect_in("Aim::limit_rad", self.limit_rad, 0.0, PI)
    }

    fn check(&self, target: &AimTarget) -> Result<()> {
        expect_in("AimTarget::weight", target.weight, 0.0, 1.0)?;
        expect_all_finite("AimTarget::position", target.position.to_array())?;
        expect_finite("AimTarget::twist_rad", target.twist_rad)?;
        target.up.map_or(Ok(()), |up| {
            expect_all_finite("AimTarget::up", up.to_array())
        })
    }

    fn run(&self, skeleton: &Skeleton, target: &AimTarget, mut pose: IkPose<'_>) -> IkReport {
        let Some((first, _)) = self.joints.first() else {
            return Self::NONE;
        };
        if target.weight <= 0.0 {
            return self.report(target.position, 0.0, &pose);
        }
        let Some((solved, weight)) = self.solved(skeleton, target, &pose) else {
            return Self::NONE;
        };
        if weight > 0.0 {
            for (own, solved) in self.joints.iter().zip(solved) {
                pose.local[own.0.index()].rotation = solved;
            }
            pose.recompute(skeleton, *first);
        }
        self.report(target.position, weight, &pose)
    }
}
