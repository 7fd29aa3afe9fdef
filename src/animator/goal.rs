//! Inverse kinematics of actors: jobs of the character, targets of each actor.

use crate::error::{ArgumentFault, Error, Result};
use crate::ik::{
    Aim, AimReport, AimTarget, ChainReport, ChainTarget, FeetReport, FeetTarget, FootPlacement,
    IkChain, IkJob, IkPose, IkRig, TwoBone, TwoBoneReport, TwoBoneTarget,
};
use crate::motion::Ramp;
use crate::skeleton::{Affine, Transform};

/// A kind of inverse kinematics that the actors of a character can be given targets for.
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

/// What an actor wants of a solver, in character space.
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

/// What a solver made of an actor's target.
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

/// A solver of an animator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SolverId(pub(crate) u16);

/// What an actor wants of a solver.
#[derive(Debug, Clone)]
pub(crate) struct Goal {
    pub(crate) solver: SolverId,
    pub(crate) target: IkTarget,
    /// Multiplies the target's weight.
    pub(crate) weight: Ramp,
    /// Of the pose that was evaluated last.
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

    /// Whether a target is one of this kind, and makes sense.
    pub(crate) fn check(&self, target: &IkTarget) -> Result<()> {
        match (self, target) {
            (Self::TwoBone(job), IkTarget::TwoBone(target)) => job.check(target),
            (Self::Aim(job), IkTarget::Aim(target)) => job.check(target),
            (Self::Chain(job), IkTarget::Chain(target)) => job.check(target),
            (Self::Feet(job), IkTarget::Feet(target)) => job.check(target),
            _ => Err(Error::Argument {
                what: "IkTarget",
                why: ArgumentFault::Invalid("is for another kind of solver"),
            }),
        }
    }

    /// Changes a pose. Everything was checked.
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
    /// Whether it has faded out.
    pub(crate) fn is_over(&self, local_s: f64) -> bool {
        self.weight.to == 0.0 && self.weight.has_ended(local_s)
    }

    /// From when on its weight no longer changes.
    pub(crate) fn still_from_s(&self) -> f64 {
        if self.weight.from == self.weight.to {
            f64::NEG_INFINITY
        } else {
            self.weight.start_s + self.weight.duration_s
        }
    }

    /// Changes a pose, of which both halves are given.
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
