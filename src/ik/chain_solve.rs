//! The job of a chain with limits: its iteration in the space of the first joint's parent.

use super::chain::{ChainTarget, IkChain};
use super::job::{IkJob, IkPose};
use super::limit::JointLimit;
use super::maths::{blend, direction, inverse, length, unit};
use super::report::IkReport;
use crate::error::{Error, Result, expect_all_finite, expect_cap, expect_in};
use crate::id::Id;
use crate::skeleton::{Joint, Skeleton, Transform};
use glam::{Affine3A, DMat3, DVec3, Quat, Vec3};

const MAX: usize = IkChain::MAX_JOINTS;

/// A chain in a pose. It lives on the stack, so that nothing is allocated.
pub(super) struct Chain<'a> {
    joints: &'a [(Id<Joint>, JointLimit)],
    /// The number of joints that turn: all but the tip.
    turning: usize,
    rest: [Quat; MAX],
    local: [Transform; MAX],
    /// Maps the next joint's parent space to this joint's space.
    gap: [Affine3A; MAX],
    /// Maps each joint's parent space to the chain's space.
    parent: [Affine3A; MAX],
    position: [Vec3; MAX],
    goal: Vec3,
    /// Maps the chain's space to character space.
    model: Affine3A,
    best: [Quat; MAX],
    best_m: f64,
}

/// The most steps of damped least squares in one iteration.
const SMALL_STEPS: usize = 8;
/// The damping of the least squares, as a fraction of the whole.
const DAMPING: f64 = 1e-3;

/// The most times that a stuck chain is nudged.
const NUDGES: u32 = 8;
/// The least improvement of an iteration, relative to the remaining distance. Below it, the chain
/// counts as stuck.
const LEAST_GAIN: f64 = 0.01;

impl<'a> Chain<'a> {
    /// `None` if the pose is not finite or has no inverse.
    pub(super) fn of(
        joints: &'a [(Id<Joint>, JointLimit)],
        skeleton: &Skeleton,
        pose: &IkPose<'_>,
        target: Vec3,
    ) -> Option<Self> {
        let model = skeleton.parent_model(joints.first()?.0, pose.model);
        let mut chain = Self {
            joints,
            turning: joints.len() - 1,
            rest: [Quat::IDENTITY; MAX],
            local: [Transform::IDENTITY; MAX],
            gap: [Affine3A::IDENTITY; MAX],
            parent: [Affine3A::IDENTITY; MAX],
            position: [Vec3::ZERO; MAX],
            goal: inverse(&model)?.transform_point3(target),
            model,
            best: [Quat::IDENTITY; MAX],
            best_m: f64::INFINITY,
        };
        for (at, (joint, limit)) in joints.iter().enumerate() {
            chain.local[at] = pose.local[usize::from(*joint)];
            chain.rest[at] = skeleton.rest_rotation(*joint);
            chain.best[at] = chain.local[at].rotation;
            if let Some(next) = joints.get(at + 1) {
                chain.gap[at] = skeleton.between(pose.local, *joint, next.0);
                let rotation = &mut chain.local[at].rotation;
                *rotation = limit.held(chain.rest[at], *rotation);
            }
        }
        chain.position[0] = chain.local[0].translation;
        chain.recompute();
        Some(chain)
    }

    /// Iterates until the tip is within `tolerance_m` of the goal. Returns the number of
    /// iterations.
    pub(super) fn solve(&mut self, tolerance_m: f64, iterations: u16) -> u16 {
        let mut left = self.note();
        let mut nudges = 0;
        for done in 0..iterations {
            if left <= tolerance_m {
                return done;
            }
            if self.out_of_reach() {
                self.stretch();
                if self.free() {
                    self.note();
                    return done + 1;
                }
            } else {
                self.fabrik();
            }
            let mut now = self.note();
            for _ in 0..SMALL_STEPS {
                if now > tolerance_m {
                    self.squares();
                    now = self.note();
                }
            }
            if now > left * (1.0 - LEAST_GAIN) && now > tolerance_m {
                if nudges == NUDGES {
                    return done + 1;
                }
                nudges += 1;
                self.nudge(nudges);
                now = self.note();
            }
            left = now;
        }
        iterations
    }

    /// The best rotations found, for all joints but the tip, if they are finite.
    pub(super) fn best(&self) -> Option<&[Quat]> {
        let best = &self.best[..self.turning];
        let finite = best.iter().all(|rotation| rotation.is_finite());
        (finite && self.best_m.is_finite()).then_some(best)
    }

    /// The distance from the tip to the goal in character space.
    ///
    /// Also stores the pose if it is the best so far.
    fn note(&mut self) -> f64 {
        let left = length(direction(
            &self.model,
            self.position[self.turning] - self.goal,
        ));
        if left < self.best_m {
            self.best_m = left;
            for at in 0..self.turning {
                self.best[at] = self.local[at].rotation;
            }
        }
        left
    }

    fn free(&self) -> bool {
        let mut limits = self.joints[..self.turning].iter();
        limits.all(|own| own.1 == JointLimit::Free)
    }

    fn bone(&self, at: usize) -> f64 {
        length(self.position[at + 1] - self.position[at])
    }

    fn out_of_reach(&self) -> bool {
        let reach: f64 = (0..self.turning).map(|at| self.bone(at)).sum();
        length(self.goal - self.position[0]) >= reach
    }

    /// Recomputes the position of the joint after `at`.
    fn recompute_after(&mut self, at: usize) {
        self.parent[at + 1] = self.parent[at] * self.local[at].to_affine() * self.gap[at];
        self.position[at + 1] =
            self.parent[at + 1].transform_point3(self.local[at + 1].translation);
    }

    fn recompute(&mut self) {
        for at in 0..self.turning {
            self.recompute_after(at);
        }
    }

    /// Turns joint `at` within its limit, so that `from` moves towards `to`.
    ///
    /// Both are relative to the joint, in its parent's space.
    fn turn(&mut self, at: usize, from: Vec3, to: Vec3) {
        let rotation = &mut self.local[at].rotation;
        *rotation = self.joints[at].1.turned(self.rest[at], *rotation, from, to);
    }

    /// Turns joint `at` so that the next joint moves towards `point`, then recomputes it.
    fn point_next(&mut self, at: usize, point: Vec3) {
        if let Some(inverse) = inverse(&self.parent[at]) {
            let next = self.gap[at].transform_point3(self.local[at + 1].translation);
            let local = &self.local[at];
            let from = local.rotation * (local.scale * next);
            let to = inverse.transform_point3(point) - local.translation;
            self.turn(at, from, to);
        }
        self.recompute_after(at);
    }

    /// Points all bones at the goal.
    fn stretch(&mut self) {
        for at in 0..self.turning {
            self.point_next(at, self.goal);
        }
    }

    /// One FABRIK iteration: points from the goal back to the root, then turns from the root on.
    fn fabrik(&mut self) {
        let mut points = self.position;
        points[self.turning] = self.goal;
        for at in (1..self.turning).rev() {
            let away = unit(self.position[at] - points[at + 1])
                .or_else(|| unit(self.position[at] - self.position[at + 1]));
            let bone = self.bone(at) as f32;
            points[at] = points[at + 1] + away.unwrap_or(Vec3::ZERO) * bone;
        }
        for at in 0..self.turning {
            self.point_next(at, points[at + 1]);
        }
    }

    /// One step of damped least squares over all joints.
    ///
    /// Computes the small turns that together move the tip to the goal, then clamps each to its
    /// limit. In the next step, the other joints make up for the part that a limit removed.
    fn squares(&mut self) {
        let tip = self.position[self.turning];
        let left = (self.goal - tip).as_dvec3();
        let mut columns = [DMat3::ZERO; MAX];
        let mut sum = DMat3::ZERO;
        for (at, column) in columns.iter_mut().enumerate().take(self.turning) {
            let Some(inverse) = inverse(&self.parent[at]) else {
                continue;
            };
            let local = &self.local[at];
            let arm = (inverse.transform_point3(tip) - local.translation).as_dvec3();
            let axes = self.joints[at].1.axes(self.rest[at]).as_dmat3();
            let to_here =
                DMat3::from_cols_array(&self.parent[at].matrix3.to_cols_array().map(f64::from));
            let moved = |axis: DVec3| to_here * axis.cross(arm);
            *column = DMat3::from_cols(moved(axes.x_axis), moved(axes.y_axis), moved(axes.z_axis));
            sum += *column * column.transpose();
        }
        let size = sum.x_axis.x + sum.y_axis.y + sum.z_axis.z;
        let share = (sum + DMat3::from_diagonal(DVec3::splat(DAMPING * size))).inverse() * left;
        if !share.is_finite() {
            return;
        }
        for (at, column) in columns.iter().enumerate().take(self.turning) {
            let limit = self.joints[at].1;
            let axes = limit.axes(self.rest[at]);
            let turn = axes * (column.transpose() * share).as_vec3();
            // A larger turn is not a small turn any more.
            let turn = turn.clamp_length_max(0.5);
            let local = &mut self.local[at];
            let turned = Quat::from_scaled_axis(turn) * local.rotation;
            let held = limit.held(self.rest[at], turned).normalize();
            if held.is_finite() {
                local.rotation = held;
            }
        }
        self.recompute();
    }

    /// Bends the chain a little, in alternating directions, and more each time.
    fn nudge(&mut self, time: u32) {
        for at in 0..self.turning {
            let even = (at + time as usize).is_multiple_of(2);
            let sign = if even { 1.0 } else { -1.0 };
            let next = self.gap[at].transform_point3(self.local[at + 1].translation);
            let local = &mut self.local[at];
            let bone = local.rotation * (local.scale * next);
            let angle = sign * 0.3 * time as f32;
            let limit = &self.joints[at].1;
            local.rotation = limit.nudged(self.rest[at], local.rotation, bone, angle);
        }
        self.recompute();
    }
}

impl IkJob for IkChain {
    type Target = ChainTarget;

    /// Checks the joints, limits, tolerance and iterations.
    ///
    /// There must be 2 to [`IkChain::MAX_JOINTS`] joints, each below the one before it. Limits,
    /// tolerance and iterations must be in their ranges.
    fn validate(&self, skeleton: &Skeleton) -> Result<()> {
        if self.joints.len() < 2 {
            return Err(Error::length("IkChain::joints", self.joints.len(), 2));
        }
        expect_cap("joints of a chain", self.joints.len(), IkChain::MAX_JOINTS)?;
        for pair in self.joints.windows(2) {
            skeleton.expect_below("joint of IkChain::joints", pair[1].0, pair[0].0)?;
        }
        for (joint, limit) in &self.joints {
            let valid = limit.validate();
            valid.map_err(|why| skeleton.about_joint(*joint, why))?;
        }
        let (least, most) = (f32::MIN_POSITIVE, f32::MAX);
        expect_in("IkChain::tolerance_m", self.tolerance_m, least, most)?;
        expect_in("IkChain::iterations", self.iterations, 1.0, 1000.0)
    }

    fn check(&self, target: &ChainTarget) -> Result<()> {
        expect_in("ChainTarget::weight", target.weight, 0.0, 1.0)?;
        expect_all_finite("ChainTarget::position", target.position.to_array())
    }

    fn run(&self, skeleton: &Skeleton, target: &ChainTarget, mut pose: IkPose<'_>) -> IkReport {
        const NONE: IkReport = IkReport::Chain {
            reached: false,
            distance_m: f32::INFINITY,
            iterations: 0,
        };
        let [(first, _), .., (last, _)] = self.joints.as_slice() else {
            return NONE;
        };
        let mut iterations = 0;
        if target.weight > 0.0 {
            let chain = Chain::of(&self.joints, skeleton, &pose, target.position);
            let Some(mut chain) = chain else {
                return NONE;
            };
            iterations = chain.solve(self.tolerance_m.into(), self.iterations);
            let Some(solved) = chain.best() else {
                return NONE;
            };
            for ((joint, _), solved) in self.joints.iter().zip(solved) {
                let rotation = &mut pose.local[joint.index()].rotation;
                *rotation = blend(*rotation, *solved, target.weight);
            }
            pose.recompute(skeleton, *first);
        }
        let tip = Vec3::from(pose.model[last.index()].translation);
        let distance = length(tip - target.position);
        IkReport::Chain {
            // Adds a margin for the rounding of the model pose.
            reached: distance <= f64::from(self.tolerance_m) + 1e-6 * length(tip),
            distance_m: distance as f32,
            iterations,
        }
    }
}
