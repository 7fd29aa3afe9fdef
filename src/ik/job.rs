//! The trait that all IK jobs share: validate, check, run.

use super::rig::{IkPose, IkRig};
use crate::error::{self, Error, Result, expect_in};

/// An inverse kinematics solver: the data that all instances of a character have in common.
pub(crate) trait IkJob {
    /// The goal of one instance in one frame.
    type Target;
    /// The result for one instance.
    type Report;

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

    /// Changes the pose of one instance. Job, target and lengths have been checked.
    fn run(&self, rig: &IkRig, target: &Self::Target, pose: IkPose<'_>) -> Self::Report;
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
