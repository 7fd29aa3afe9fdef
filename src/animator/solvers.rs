//! Inverse kinematics: the solvers of a character, and the kinds of targets and reports.

use super::replace::moved;
use crate::error::{Error, Result};
use crate::id::Id;
use crate::ik::{
    Aim, AimReport, AimTarget, ChainReport, ChainTarget, FeetReport, FeetTarget, FootPlacement,
    IkChain, IkJob, IkPose, IkRig, Leg, TwoBone, TwoBoneReport, TwoBoneTarget,
};
use crate::skeleton::{Joint, Skeleton, Transform};
use glam::Affine3A;

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
///
/// Distances are in metres of character space. They are infinite if there was no solution.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum IkReport {
    /// Of [`IkSolver::TwoBone`].
    TwoBone {
        /// True if the limb's end is at the target, to within 10⁻⁴ of the limb's length.
        reached: bool,
        /// The remaining distance to the target, after weight and softening.
        distance_m: f32,
    },
    /// Of [`IkSolver::Aim`].
    Aim {
        /// True if the forward axis points at the target.
        ///
        /// The tolerance is a thousandth of a radian or, very near to the target, the rounding
        /// error of the direction.
        reached: bool,
        /// The remaining miss angle in radians, after limit and weight.
        ///
        /// 0 if the target coincides with the offset, to within 10⁻⁵ of the coordinates. There is
        /// then no direction, and the target counts as reached.
        angle_rad: f32,
        /// The weight that was used.
        ///
        /// It is less than the target's weight if that would miss by more than the animated pose
        /// does. It is 0 if the pose is unchanged.
        weight: f32,
    },
    /// Of [`IkSolver::Chain`].
    Chain {
        /// True if the last joint has reached the target.
        ///
        /// It must be within the tolerance, plus the distance that the weight leaves.
        reached: bool,
        /// The remaining distance to the target, after the weight.
        distance_m: f32,
        /// The number of iterations used.
        iterations: u16,
    },
    /// Of [`IkSolver::Feet`]. Arrays have one element per leg.
    Feet {
        /// True if the ankle is where the ground puts it. False for a leg that was not solved.
        reached: [bool; FootPlacement::MAX_LEGS],
        /// The remaining distance of the ankle. Infinite for a leg that was not solved.
        distance_m: [f32; FootPlacement::MAX_LEGS],
        /// The distance that the pelvis moved up, in metres.
        pelvis_m: f32,
    },
}

/// Wraps each kind of solver and target, so that callers need not name the enums.
macro_rules! wrap {
    ($($kind:ident: $solver:ty, $target:ty;)*) => {$(
        impl From<$solver> for IkSolver {
            fn from(solver: $solver) -> Self {
                Self::$kind(solver)
            }
        }

        impl From<$target> for IkTarget {
            fn from(target: $target) -> Self {
                Self::$kind(target)
            }
        }
    )*};
}

wrap! {
    TwoBone: TwoBone, TwoBoneTarget;
    Aim: Aim, AimTarget;
    Chain: IkChain, ChainTarget;
    Feet: FootPlacement, FeetTarget;
}

impl IkReport {
    /// Returns true if the target was reached.
    ///
    /// For [`Self::Feet`]: if at least one leg was solved, and all solved legs reached the ground.
    #[must_use]
    pub fn reached(&self) -> bool {
        match self {
            Self::TwoBone { reached, .. }
            | Self::Aim { reached, .. }
            | Self::Chain { reached, .. } => *reached,
            Self::Feet {
                reached,
                distance_m,
                ..
            } => {
                let legs = reached.iter().zip(distance_m);
                let mut solved = legs.filter(|(_, distance_m)| distance_m.is_finite());
                let first = solved.next().is_some_and(|(reached, _)| *reached);
                first && solved.all(|(reached, _)| *reached)
            }
        }
    }

    fn of_two_bone(report: TwoBoneReport) -> Self {
        Self::TwoBone {
            reached: report.reached,
            distance_m: report.distance_m,
        }
    }

    fn of_aim(report: AimReport) -> Self {
        Self::Aim {
            reached: report.reached,
            angle_rad: report.angle_rad,
            weight: report.weight,
        }
    }

    fn of_chain(report: ChainReport) -> Self {
        Self::Chain {
            reached: report.reached,
            distance_m: report.distance_m,
            iterations: report.iterations,
        }
    }

    fn of_feet(report: FeetReport) -> Self {
        Self::Feet {
            reached: report.legs.map(|leg| leg.reached),
            distance_m: report.legs.map(|leg| leg.distance_m),
            pelvis_m: report.pelvis_m,
        }
    }
}

impl IkSolver {
    /// The same solver with other joints. `None` if one of them does not exist.
    fn with_joints(&self, joint: impl Fn(Id<Joint>) -> Option<Id<Joint>>) -> Option<Self> {
        let bones = |it: &TwoBone| {
            Some(TwoBone {
                start: joint(it.start)?,
                mid: joint(it.mid)?,
                end: joint(it.end)?,
                ..it.clone()
            })
        };
        Some(match self {
            Self::TwoBone(it) => Self::TwoBone(bones(it)?),
            Self::Aim(it) => {
                let joints = it
                    .joints
                    .iter()
                    .map(|(id, share)| Some((joint(*id)?, *share)));
                let joints = joints.collect::<Option<_>>()?;
                Self::Aim(Aim {
                    joints,
                    ..it.clone()
                })
            }
            Self::Chain(it) => {
                let joints = it
                    .joints
                    .iter()
                    .map(|(id, limit)| Some((joint(*id)?, limit.clone())));
                let joints = joints.collect::<Option<_>>()?;
                Self::Chain(IkChain {
                    joints,
                    ..it.clone()
                })
            }
            Self::Feet(it) => {
                let leg = |leg: &Leg| {
                    Some(Leg {
                        bones: bones(&leg.bones)?,
                        ..leg.clone()
                    })
                };
                Self::Feet(FootPlacement {
                    pelvis: joint(it.pelvis)?,
                    legs: it.legs.iter().map(leg).collect::<Option<_>>()?,
                    ..it.clone()
                })
            }
        })
    }

    /// The name of its kind.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::TwoBone(_) => "TwoBone",
            Self::Aim(_) => "Aim",
            Self::Chain(_) => "IkChain",
            Self::Feet(_) => "FootPlacement",
        }
    }

    fn validate(&self, rig: &IkRig) -> Result<()> {
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
                job.solve(rig, &target, pose).map(IkReport::of_two_bone)
            }
            (Self::Aim(job), IkTarget::Aim(target)) => {
                let weight = target.weight * weight;
                let target = AimTarget { weight, ..*target };
                job.solve(rig, &target, pose).map(IkReport::of_aim)
            }
            (Self::Chain(job), IkTarget::Chain(target)) => {
                let weight = target.weight * weight;
                let target = ChainTarget { weight, ..*target };
                job.solve(rig, &target, pose).map(IkReport::of_chain)
            }
            (Self::Feet(job), IkTarget::Feet(target)) => {
                let weight = target.weight * weight;
                let target = FeetTarget { weight, ..*target };
                job.solve(rig, &target, pose).map(IkReport::of_feet)
            }
            _ => return None,
        };
        report.ok()
    }
}

/// The solvers that the actors of a character can have targets for.
#[derive(Debug, Default)]
pub(crate) struct Solvers {
    list: Vec<IkSolver>,
    /// The solvers that do not fit the character that replaced theirs.
    unfit: Vec<u16>,
    /// `None` until a solver needs it.
    rig: Option<IkRig>,
}

impl Solvers {
    /// Adds a solver that fits the skeleton.
    pub(super) fn add(&mut self, solver: IkSolver, skeleton: &Skeleton) -> Result<Id<IkSolver>> {
        let rig = self.rig.get_or_insert_with(|| IkRig::new(skeleton));
        solver.validate(rig)?;
        let asked = self.list.len() as u64 + 1;
        let cap = u64::from(u16::MAX);
        if asked > cap {
            let what = "IK solvers";
            return Err(Error::Capacity { what, asked, cap });
        }
        self.list.push(solver);
        Ok(Id::new(asked as u16 - 1))
    }

    /// The name of a solver's kind.
    pub(super) fn kind(&self, id: Id<IkSolver>) -> &'static str {
        self.list.get(id.index()).map_or("", IkSolver::kind)
    }

    /// Fits the solvers to another skeleton, by the names of joints.
    pub(super) fn adopt(&mut self, old: &Skeleton, new: &Skeleton, joints: &[Option<u16>]) {
        if self.list.is_empty() {
            return;
        }
        debug_assert_eq!(joints.len(), old.len());
        let rig = self.rig.insert(IkRig::new(new));
        for (number, solver) in (0..).zip(&mut self.list) {
            let found = solver.with_joints(|joint| Some(Id::new(moved(joints, joint.0)?)));
            match found.filter(|solver| solver.validate(rig).is_ok()) {
                Some(found) if !self.unfit.contains(&number) => *solver = found,
                _ if self.unfit.contains(&number) => {}
                _ => self.unfit.push(number),
            }
        }
    }

    pub(super) fn get(&self, id: Id<IkSolver>) -> Result<&IkSolver> {
        if self.unfit.contains(&id.0) {
            let why = "does not fit the character that replaced its own";
            return Err(Error::invalid("IK solver", why));
        }
        let solver = self.list.get(usize::from(id.0));
        solver.ok_or(Error::NotFound {
            what: "IK solver",
            index: id.0.into(),
            count: self.list.len() as u64,
        })
    }

    /// Applies a solver to a pose. The target has been checked.
    pub(super) fn solve(
        &self,
        solver: Id<IkSolver>,
        target: &IkTarget,
        weight: f32,
        (local, model): (&mut [Transform], &mut [Affine3A]),
    ) -> Option<IkReport> {
        let (rig, solver) = (self.rig.as_ref()?, self.get(solver).ok()?);
        solver.solve(rig, target, weight, IkPose { local, model })
    }
}
