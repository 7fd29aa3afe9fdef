//! The trait that all IK jobs share: validate, solve one instance, solve many.

use super::rig::IkRig;
use crate::error::{self, Error, Result, expect_in, expect_len};
use crate::skeleton::Transform;
use glam::Affine3A;

/// The poses of one instance, or of several stored one after the other.
///
/// Each slice has one element per joint. Before and after a job, the model poses match the local
/// ones as [`Skeleton::model_pose`](crate::skeleton::Skeleton::model_pose) computes them.
#[derive(Debug)]
pub struct IkPose<'a> {
    /// Local transforms: from each joint's space to its parent's.
    pub local: &'a mut [Transform],
    /// Model transforms: from each joint's space to character space.
    pub model: &'a mut [Affine3A],
}

/// Proof that job, target and lengths were checked. Only this module can create one.
#[derive(Debug, Clone, Copy)]
pub struct Checked(());

/// An inverse kinematics solver.
///
/// Implemented by [`TwoBone`](crate::ik::TwoBone), [`Aim`](crate::ik::Aim),
/// [`IkChain`](crate::ik::IkChain) and [`FootPlacement`](crate::ik::FootPlacement). A job is the
/// data that all instances of a character have in common.
pub trait IkJob: Sync {
    /// The goal of one instance in one frame.
    type Target: Sync;
    /// The result for one instance.
    type Report: Send;

    /// Checks that the job fits a skeleton and that its values are valid.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Argument`] or [`Error::At`], naming the joint or the field.
    fn validate(&self, rig: &IkRig) -> Result<()>;

    /// Checks that a target is finite and has a weight in 0..=1.
    ///
    /// # Errors
    /// [`Error::Argument`], naming the field.
    fn check(&self, target: &Self::Target) -> Result<()>;

    #[doc(hidden)]
    fn run(
        &self,
        rig: &IkRig,
        target: &Self::Target,
        pose: IkPose<'_>,
        checked: Checked,
    ) -> Self::Report;

    /// Solves the job for one instance and changes its pose.
    ///
    /// # Errors
    /// - As [`Self::validate`] and [`Self::check`].
    /// - [`Error::Argument`] if a pose does not have one element per joint of the rig.
    ///
    /// The pose is unchanged then.
    fn solve(&self, rig: &IkRig, target: &Self::Target, pose: IkPose<'_>) -> Result<Self::Report> {
        rig.expect_poses(1, pose.local.len(), pose.model.len())?;
        self.validate(rig)?;
        self.check(target)?;
        Ok(self.run(rig, target, pose, Checked(())))
    }
}

/// Solves one job for many instances of a character.
///
/// Each instance has a target and a report, and the poses are stored one after the other. Give an
/// instance that does not need the job a target of weight 0.
///
/// # Errors
/// - As [`IkJob::solve`], inside an [`Error::At`] that says which target is wrong.
/// - [`Error::Argument`] if the numbers of reports and targets differ.
///
/// All poses are unchanged then.
pub fn solve_many<J: IkJob>(
    job: &J,
    rig: &IkRig,
    targets: &[J::Target],
    poses: IkPose<'_>,
    reports: &mut [J::Report],
) -> Result<()> {
    check_many(job, rig, targets, &poses, reports)?;
    // No job is valid for a skeleton without joints.
    let joints = rig.len().max(1);
    let poses = poses
        .local
        .chunks_exact_mut(joints)
        .zip(poses.model.chunks_exact_mut(joints));
    for ((target, report), (local, model)) in targets.iter().zip(reports).zip(poses) {
        *report = job.run(rig, target, IkPose { local, model }, Checked(()));
    }
    Ok(())
}

fn check_many<J: IkJob>(
    job: &J,
    rig: &IkRig,
    targets: &[J::Target],
    poses: &IkPose<'_>,
    reports: &[J::Report],
) -> Result<()> {
    rig.expect_poses(targets.len(), poses.local.len(), poses.model.len())?;
    expect_len("reports", reports.len(), targets.len())?;
    job.validate(rig)?;
    for (index, target) in targets.iter().enumerate() {
        job.check(target).map_err(|why| why.at("target", index))?;
    }
    Ok(())
}

/// Checks that all `values` are finite.
pub(crate) fn expect_finite(what: &'static str, values: &[f32]) -> Result<()> {
    values
        .iter()
        .try_for_each(|value| error::expect_finite(what, *value))
}

/// Checks that `axis` has a direction.
pub(crate) fn expect_axis(what: &'static str, axis: glam::Vec3) -> Result<()> {
    expect_finite(what, &axis.to_array())?;
    if super::maths::unit(axis).is_some() {
        return Ok(());
    }
    Err(Error::invalid(what, "has no direction"))
}

/// Checks that `rotation` has length 1, to within 1 %.
pub(crate) fn expect_rotation(what: &'static str, rotation: glam::Quat) -> Result<()> {
    expect_finite(what, &rotation.to_array())?;
    expect_in(what, rotation.length(), 0.99, 1.01)
}
