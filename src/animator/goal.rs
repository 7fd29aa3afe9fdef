//! Inverse kinematics of actors: solvers of the character, and targets of each actor.

use crate::error::{Error, Result};
use crate::ik::{
    Aim, AimReport, AimTarget, ChainReport, ChainTarget, FeetReport, FeetTarget, FootPlacement,
    IkChain, IkJob, IkPose, IkRig, TwoBone, TwoBoneReport, TwoBoneTarget,
};
use crate::motion::Ramp;
use crate::skeleton::{Affine, Transform};

/// An inverse kinematics solver, for which actors can be given targets.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum IkSolver {
    /// A leg or an arm.
    TwoBone(TwoBone),
    /// Joints that look at something together.
    Aim(Aim),
    /// Any number of joints.
    Chain(IkChain),
    /// Pelvis and legs on uneven ground.
    Feet(FootPlacement),
}

/// The target of an actor for a solver, in character space.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum IkTarget {
    /// For [`IkSolver::TwoBone`].
    TwoBone(TwoBoneTarget),
    /// For [`IkSolver::Aim`].
    Aim(AimTarget),
    /// For [`IkSolver::Chain`].
    Chain(ChainTarget),
    /// For [`IkSolver::Feet`].
    Feet(FeetTarget),
}

/// The result of a solver for an actor's target.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum IkReport {
    /// Of [`IkSolver::TwoBone`].
    TwoBone(TwoBoneReport),
    /// Of [`IkSolver::Aim`].
    Aim(AimReport),
    /// Of [`IkSolver::Chain`].
    Chain(ChainReport),
    /// Of [`IkSolver::Feet`].
    Feet(FeetReport),
}

/// Identifies a solver of an animator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SolverId(pub(crate) u16);

/// A target that an actor has for a solver, with the state of its fade.
#[derive(Debug, Clone)]
pub(crate) struct Goal {
    pub(crate) solver: SolverId,
    pub(crate) target: IkTarget,
    /// Multiplies the target's weight.
    pub(crate) weight: Ramp,
    /// The report of the last evaluation.
    pub(crate) report: Option<IkReport>,
}

impl IkSolver {
    pub(crate) fn validate(&self, rig: &IkRig) -> Result<()> {
        match self {
            Self::TwoBone(job) => job.validate(rig),
            Self::Aim(job) => job.validate(rig),
            Self::Chain(job) => job.validate(rig),
            Self::Feet(job) => job.validate(rig),
        }
    }

    /// Checks that a target is of this kind of solver, and is valid.
    pub(crate) fn check(&self, target: &IkTarget) -> Result<()> {
        match (self, target) {
            (Self::TwoBone(job), IkTarget::TwoBone(target)) => job.check(target),
            (Self::Aim(job), IkTarget::Aim(target)) => job.check(target),
            (Self::Chain(job), IkTarget::Chain(target)) => job.check(target),
            (Self::Feet(job), IkTarget::Feet(target)) => job.check(target),
            _ => Err(Error::invalid("IkTarget", "is for another kind of solver")),
        }
    }

    /// Applies the solver to a pose. The arguments must have been checked.
    fn solve(
        &self,
        rig: &IkRig,
        target: &IkTarget,
        weight: f32,
        pose: IkPose<'_>,
    ) -> Option<IkReport> {
        let report = match (self, target) {
            (Self::TwoBone(job), IkTarget::TwoBone(target)) => {
                let weight = target.weight * weight;
                let target = TwoBoneTarget { weight, ..*target };
                job.solve(rig, &target, pose).map(IkReport::TwoBone)
            }
            (Self::Aim(job), IkTarget::Aim(target)) => {
                let weight = target.weight * weight;
                let target = AimTarget { weight, ..*target };
                job.solve(rig, &target, pose).map(IkReport::Aim)
            }
            (Self::Chain(job), IkTarget::Chain(target)) => {
                let weight = target.weight * weight;
                let target = ChainTarget { weight, ..*target };
                job.solve(rig, &target, pose).map(IkReport::Chain)
            }
            (Self::Feet(job), IkTarget::Feet(target)) => {
                let weight = target.weight * weight;
                let target = FeetTarget { weight, ..*target };
                job.solve(rig, &target, pose).map(IkReport::Feet)
            }
            _ => return None,
        };
        report.ok()
    }
}

impl Goal {
    /// Returns true if it has faded out.
    pub(crate) fn is_over(&self, local_s: f64) -> bool {
        self.weight.to == 0.0 && self.weight.has_ended(local_s)
    }

    /// The time from which its weight no longer changes.
    pub(crate) fn still_from_s(&self) -> f64 {
        if self.weight.from == self.weight.to {
            f64::NEG_INFINITY
        } else {
            self.weight.start_s + self.weight.duration_s
        }
    }

    /// Applies the goal to a pose, which is given as local and model transforms.
    pub(crate) fn solve(
        &mut self,
        solvers: &[IkSolver],
        rig: &IkRig,
        local_s: f64,
        local: &mut [Transform],
        model: &mut [Affine],
    ) {
        let weight = self.weight.at(local_s);
        if weight <= 0.0 {
            self.report = None;
            return;
        }
        let solver = solvers.get(usize::from(self.solver.0));
        if let Some(solver) = solver {
            let pose = IkPose { local, model };
            self.report = solver.solve(rig, &self.target, weight, pose);
        }
    }
}
