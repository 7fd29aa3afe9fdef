//! Inverse kinematics: the solvers of a character, and the kinds of targets and reports.

use super::library::moved;
use crate::error::{ArgumentFault, Error, Result, expect_cap};
use crate::id::Id;
use crate::ik::{
    Aim, AimTarget, ChainTarget, FeetTarget, FootPlacement, IkChain, IkJob, IkPose, IkReport,
    TwoBone, TwoBoneTarget,
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
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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

/// Wraps each kind of solver and target, so that callers need not name the enums.
macro_rules! wrap {
    ($($kind:ident: $solver:ty, $target:ty;)*) => {
    $(
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
    )*

        impl IkSolver {
            pub(super) fn kind(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => stringify!($kind),)*
                }
            }

            fn validate(&self, skeleton: &Skeleton) -> Result<()> {
                match self {
                    $(Self::$kind(job) => job.validate(skeleton),)*
                }
            }

            /// Checks that a target is of this kind of solver, and is valid.
            pub(crate) fn check(&self, target: &IkTarget) -> Result<()> {
                match (self, target) {
                    $((Self::$kind(job), IkTarget::$kind(target)) => job.check(target),)*
                    _ => Err(self.mismatch(target)),
                }
            }

            /// Applies the solver to a pose, with `weight` times the target's weight.
            ///
            /// The arguments have been checked.
            fn run(
                &self,
                skeleton: &Skeleton,
                target: &IkTarget,
                weight: f32,
                pose: IkPose<'_>,
            ) -> Option<IkReport> {
                match (self, *target) {
                    $((Self::$kind(job), IkTarget::$kind(mut target)) => {
                        target.weight *= weight;
                        Some(job.run(skeleton, &target, pose))
                    })*
                    _ => None,
                }
            }
        }

        impl IkTarget {
            /// The name of the kind of solver that it is for.
            fn kind(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => stringify!($kind),)*
                }
            }
        }
    };
}

wrap! {
    TwoBone: TwoBone, TwoBoneTarget;
    Aim: Aim, AimTarget;
    Chain: IkChain, ChainTarget;
    Feet: FootPlacement, FeetTarget;
}

impl IkSolver {
    /// The same solver with other joints. `None` if one of them does not exist.
    fn with_joints(&self, joint: impl Fn(Id<Joint>) -> Option<Id<Joint>>) -> Option<Self> {
        let bones = |it: &TwoBone| {
            Some(TwoBone {
                start: joint(it.start)?,
                mid: joint(it.mid)?,
                end: joint(it.end)?,
                ..*it
            })
        };
        let mut moved = self.clone();
        match &mut moved {
            Self::TwoBone(it) => *it = bones(it)?,
            Self::Aim(it) => {
                for (at, _) in &mut it.joints {
                    *at = joint(*at)?;
                }
            }
            Self::Chain(it) => {
                for (at, _) in &mut it.joints {
                    *at = joint(*at)?;
                }
            }
            Self::Feet(it) => {
                it.pelvis = joint(it.pelvis)?;
                for (leg, _) in &mut it.legs {
                    *leg = bones(leg)?;
                }
            }
        }
        Some(moved)
    }

    pub(super) fn turned(&self, mut each: impl FnMut(Id<Joint>)) {
        let mut bones = |it: &TwoBone| [it.start, it.mid, it.end].into_iter().for_each(&mut each);
        match self {
            Self::TwoBone(it) => bones(it),
            Self::Aim(it) => it.joints.iter().for_each(|at| each(at.0)),
            Self::Chain(it) => it.joints.iter().for_each(|at| each(at.0)),
            Self::Feet(it) => it.legs.iter().for_each(|(leg, _)| bones(leg)),
        }
    }

    /// The error for a target of another kind.
    fn mismatch(&self, target: &IkTarget) -> Error {
        let (got, need) = (target.kind(), self.kind());
        Error::argument("target", ArgumentFault::Kind { got, need })
    }

    /// Applies the solver to a pose that no animator evaluated.
    ///
    /// `local` has a transform for each joint, relative to its parent, and `model` their matrices
    /// in character space, as [`Skeleton::model_pose`] computes them. Both are changed, and match
    /// afterwards, too.
    ///
    /// ```
    /// use throng::IkSolver;
    /// use throng::glam::{Affine3A, Vec3};
    /// use throng::ik::{TwoBone, TwoBoneTarget};
    ///
    /// let character = throng::builtin::mannequin()?.character;
    /// let skeleton = character.skeleton();
    /// let joint = |name| skeleton.joint(name).unwrap_or_default();
    /// let arm = TwoBone::new(joint("LeftUpperArm"), joint("LeftLowerArm"), joint("LeftHand"));
    ///
    /// let mut local = skeleton.rest_pose();
    /// let mut model = vec![Affine3A::IDENTITY; skeleton.len()];
    /// skeleton.model_pose(&local, &mut model)?;
    /// let target = TwoBoneTarget::at(Vec3::new(0.3, 1.3, 0.3)).into();
    /// let report = IkSolver::from(arm).solve(skeleton, &target, &mut local, &mut model)?;
    /// assert!(report.reached());
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// The pose is unchanged then.
    ///
    /// - [`Error::NotFound`], [`Error::Argument`] or [`Error::At`] if the solver does not fit the
    ///   skeleton. The error names the joint or the field.
    /// - [`Error::Argument`] for a target of another kind of solver or an invalid target, and for a
    ///   pose that does not have one element per joint.
    pub fn solve(
        &self,
        skeleton: &Skeleton,
        target: &IkTarget,
        local: &mut [Transform],
        model: &mut [Affine3A],
    ) -> Result<IkReport> {
        let pose = IkPose { local, model };
        pose.expect_len(skeleton)?;
        self.validate(skeleton)?;
        self.check(target)?;
        let report = self.run(skeleton, target, 1.0, pose);
        report.ok_or_else(|| self.mismatch(target))
    }
}

/// The solvers that the actors of a character can have targets for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Solvers {
    list: Vec<IkSolver>,
    /// The solvers that do not fit the character that replaced theirs.
    unfit: Vec<u16>,
}

impl Solvers {
    /// Adds a solver that fits the skeleton.
    pub(super) fn add(&mut self, solver: IkSolver, skeleton: &Skeleton) -> Result<Id<IkSolver>> {
        let valid = solver.validate(skeleton);
        valid.map_err(|why| why.at_named("IK solver", self.list.len(), solver.kind()))?;
        let index = self.list.len();
        expect_cap("IK solvers", index + 1, u16::MAX.into())?;
        self.list.push(solver);
        Ok(Id::new(index as u16))
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
        for (number, solver) in (0..).zip(&mut self.list) {
            let found = solver.with_joints(|joint| Some(Id::new(moved(joints, joint.0)?)));
            match found.filter(|solver| solver.validate(new).is_ok()) {
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
        let solver = self.list.get(id.index());
        solver.ok_or(Error::not_found("IK solver", id.index(), self.list.len()))
    }

    pub(super) fn check(&self, id: Id<IkSolver>, target: &IkTarget) -> Result<()> {
        let solver = self.get(id)?;
        let checked = solver.check(target);
        checked.map_err(|why| why.at_named("IK solver", id, solver.kind()))
    }

    /// Applies a solver to a pose. The target has been checked.
    pub(super) fn solve(
        &self,
        solver: Id<IkSolver>,
        (target, weight): (&IkTarget, f32),
        skeleton: &Skeleton,
        (local, model): (&mut [Transform], &mut [Affine3A]),
    ) -> Option<IkReport> {
        let solver = self.get(solver).ok()?;
        let pose = IkPose { local, model };
        pose.expect_len(skeleton).ok()?;
        solver.run(skeleton, target, weight, pose)
    }
}
