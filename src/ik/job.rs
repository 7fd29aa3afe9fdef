//! What all jobs have in common: check, solve one, solve many.

use super::rig::IkRig;
use crate::error::{ArgumentFault, Error, Result, expect_len};
use crate::skeleton::{Affine, Transform};
use rayon::prelude::*;

/// The poses of an instance, or of several, one after the other: one element a joint each. Model
/// poses are those of the local ones, as [`model_pose`](crate::skeleton::model_pose()) makes them,
/// before and after.
#[derive(Debug)]
pub struct IkPose<'a> {
    /// Parent's space from each joint's.
    pub local: &'a mut [Transform],
    /// Character space from each joint's.
    pub model: &'a mut [Affine],
}

/// Proof that job, target and lengths were checked. Only this module makes one.
#[derive(Debug, Clone, Copy)]
pub struct Checked(());

/// A kind of inverse kinematics: [`TwoBone`](crate::ik::TwoBone), [`Aim`](crate::ik::Aim),
/// [`IkChain`](crate::ik::IkChain), [`FootPlacement`](crate::ik::FootPlacement). The job is what is the
/// same for all instances of a character.
pub trait IkJob: Sync {
    /// What an instance wants in a frame.
    type Target: Sync;
    /// What came of it.
    type Report: Send;

    /// Whether the job fits a skeleton and makes sense.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Argument`] or [`Error::At`], naming the joint or the field.
    fn validate(&self, rig: &IkRig) -> Result<()>;

    /// Whether a target is one: finite, with a weight in 0..=1.
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

    /// Changes the pose of one instance.
    ///
    /// # Errors
    /// As [`Self::validate`] and [`Self::check`]; [`Error::Argument`] if a pose does not have one
    /// element per joint of the rig. The pose is untouched then.
    fn solve(&self, rig: &IkRig, target: &Self::Target, pose: IkPose<'_>) -> Result<Self::Report> {
        rig.expect_poses(1, pose.local.len(), pose.model.len())?;
        self.validate(rig)?;
        self.check(target)?;
        Ok(self.run(rig, target, pose, Checked(())))
    }
}

/// One job for many instances of a character: a target and a report for each, and the poses one
/// after the other. Instances that want nothing of it have a target of weight 0.
///
/// # Errors
/// As [`IkJob::solve`], where [`Error::At`] says which target is wrong; [`Error::Argument`] if
/// there are not as many reports as targets. All poses are untouched then.
pub fn solve_many<J: IkJob>(
    job: &J,
    rig: &IkRig,
    targets: &[J::Target],
    poses: IkPose<'_>,
    reports: &mut [J::Report],
) -> Result<()> {
    check_many(job, rig, targets, &poses, reports)?;
    // A skeleton without joints passes no job.
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

/// [`solve_many`] on the threads of rayon's current pool. An instance is solved by one thread, so
/// the bits are the same.
///
/// # Errors
/// As [`solve_many`].
pub fn solve_many_par<J: IkJob>(
    job: &J,
    rig: &IkRig,
    targets: &[J::Target],
    poses: IkPose<'_>,
    reports: &mut [J::Report],
) -> Result<()> {
    /// Fewer instances than this are not worth a thread.
    const LEAST: usize = 64;
    check_many(job, rig, targets, &poses, reports)?;
    let joints = rig.len().max(1);
    let local = poses.local.par_chunks_exact_mut(joints);
    let poses = local.zip(poses.model.par_chunks_exact_mut(joints));
    targets
        .par_iter()
        .zip(reports)
        .zip(poses)
        .with_min_len(LEAST)
        .for_each(|((target, report), (local, model))| {
            *report = job.run(rig, target, IkPose { local, model }, Checked(()));
        });
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
        job.check(target).map_err(|why| Error::At {
            what: "target",
            index: index as u64,
            why: Box::new(why),
        })?;
    }
    Ok(())
}

/// `value` lies in `min..=max`.
pub(crate) fn expect_in(what: &'static str, value: f32, min: f32, max: f32) -> Result<()> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    let (value, min, max) = (value.into(), min.into(), max.into());
    let why = if f64::is_finite(value) {
        ArgumentFault::OutOfRange { value, min, max }
    } else {
        ArgumentFault::NotFinite(value)
    };
    Err(Error::Argument { what, why })
}

/// All of `values` are finite.
pub(crate) fn expect_finite(what: &'static str, values: &[f32]) -> Result<()> {
    match values.iter().find(|value| !value.is_finite()) {
        None => Ok(()),
        Some(value) => Err(Error::Argument {
            what,
            why: ArgumentFault::NotFinite(f64::from(*value)),
        }),
    }
}

/// `axis` has a direction.
pub(crate) fn expect_axis(what: &'static str, axis: glam::Vec3) -> Result<()> {
    expect_finite(what, &axis.to_array())?;
    if super::maths::unit(axis).is_some() {
        return Ok(());
    }
    Err(Error::Argument {
        what,
        why: ArgumentFault::Invalid("has no direction"),
    })
}

/// `rotation` is of length 1, to within 1 %.
pub(crate) fn expect_rotation(what: &'static str, rotation: glam::Quat) -> Result<()> {
    expect_finite(what, &rotation.to_array())?;
    expect_in(what, rotation.length(), 0.99, 1.01)
}
