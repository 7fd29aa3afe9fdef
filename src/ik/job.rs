//! The hierarchy as solvers need it, and the trait that all solvers share.

use super::report::IkReport;
use crate::error::{Error, Result, expect_all_finite, expect_in, expect_index, expect_len};
use crate::id::Id;
use crate::skeleton::{Joint, Skeleton, Transform};
use core::ops::Range;
use glam::{Affine3A, Quat};

/// The pose of one instance: one element per joint.
///
/// Before and after a solver, the model pose matches the local one as
/// [`Skeleton::model_pose`](crate::skeleton::Skeleton::model_pose) computes it.
#[derive(Debug)]
pub(crate) struct IkPose<'a> {
    /// Local transforms: from each joint's space to its parent's.
    pub(crate) local: &'a mut [Transform],
    /// Model transforms: from each joint's space to character space.
    pub(crate) model: &'a mut [Affine3A],
}

impl IkPose<'_> {
    /// Checks that both poses have one element per joint.
    pub(crate) fn expect_len(&self, skeleton: &Skeleton) -> Result<()> {
        expect_len("local pose", self.local.len(), skeleton.len())?;
        expect_len("model pose", self.model.len(), skeleton.len())
    }

    /// Recomputes the model pose of `joint` and of all joints below it from the local pose.
    ///
    /// The bits are the same as those that
    /// [`Skeleton::model_pose`](crate::skeleton::Skeleton::model_pose) computes for all joints.
    pub(super) fn recompute(&mut self, skeleton: &Skeleton, joint: Id<Joint>) {
        for range in skeleton.subtree(joint) {
            for joint in range.map(Id::new) {
                let parent_from_local = self.local[joint.index()].to_affine();
                self.model[joint.index()] = match skeleton.parent(joint) {
                    None => parent_from_local,
                    Some(parent) => self.model[parent.index()] * parent_from_local,
                };
            }
        }
    }
}

impl Skeleton {
    /// The joint and the joints below it: a range of joints for each level, from the top.
    ///
    /// A skeleton is in breadth-first order, so the children of a range are a range. Empty for a
    /// joint that does not exist.
    fn subtree(&self, joint: Id<Joint>) -> impl Iterator<Item = Range<u16>> + '_ {
        let top = self.levels.partition_point(|level| level.end <= joint.0);
        let mut above = joint.0..joint.0 + 1;
        self.levels.iter().skip(top).map_while(move |level| {
            let range = match level.contains(&joint.0) {
                true => above.clone(),
                false => {
                    let of = &self.joints[usize::from(level.start)..usize::from(level.end)];
                    let before = |parent: u16| {
                        let before = of.partition_point(|joint| joint.parent_index() < parent);
                        level.start + before as u16
                    };
                    before(above.start)..before(above.end)
                }
            };
            above = range.clone();
            (!range.is_empty()).then_some(range)
        })
    }

    /// The parent of a joint. `None` for a root and for a joint that does not exist.
    pub(super) fn parent(&self, joint: Id<Joint>) -> Option<Id<Joint>> {
        self.joints.get(joint.index())?.parent
    }

    /// The rotation of a joint in the rest pose.
    pub(super) fn rest_rotation(&self, joint: Id<Joint>) -> Quat {
        let joint = self.joints.get(joint.index());
        joint.map_or(Quat::IDENTITY, |joint| joint.rest.rotation)
    }

    /// The model matrix of a joint's parent.
    pub(super) fn parent_model(&self, joint: Id<Joint>, model: &[Affine3A]) -> Affine3A {
        let parent = self.parent(joint);
        parent.map_or(Affine3A::IDENTITY, |parent| model[parent.index()])
    }

    /// Maps the space of `bottom`'s parent to the space of `top`, which is above it.
    ///
    /// It is the product of the joints between them.
    pub(super) fn between(
        &self,
        local: &[Transform],
        top: Id<Joint>,
        bottom: Id<Joint>,
    ) -> Affine3A {
        let mut product = None;
        let mut above = self.parent(bottom);
        while let Some(joint) = above.filter(|joint| *joint != top) {
            let own = local[joint.index()].to_affine();
            product = Some(product.map_or(own, |below| own * below));
            above = self.parent(joint);
        }
        product.unwrap_or(Affine3A::IDENTITY)
    }

    /// Checks that a joint exists. Errors call it `what`.
    pub(super) fn expect_joint(&self, what: &'static str, joint: Id<Joint>) -> Result<()> {
        expect_index(what, joint.into(), self.len())
    }

    /// Checks that `joint` exists and is a descendant of `above`. Errors call it `what`.
    pub(super) fn expect_below(
        &self,
        what: &'static str,
        joint: Id<Joint>,
        above: Id<Joint>,
    ) -> Result<()> {
        self.expect_joint(what, above)?;
        self.expect_joint(what, joint)?;
        if self.is_below(joint, above, usize::MAX) {
            return Ok(());
        }
        let why = Error::invalid(what, "is not below the joint before it");
        Err(self.about_joint(joint, why))
    }

    /// An error about a joint, with its index and name.
    pub(super) fn about_joint(&self, joint: Id<Joint>, why: Error) -> Error {
        let name = self.joints.get(joint.index());
        why.at_named("joint", joint, name.map_or("", |joint| &joint.name))
    }
}

/// An inverse kinematics solver: the data that all instances of a character have in common.
pub(crate) trait IkJob {
    /// The goal of one instance in one frame.
    type Target;
    /// Checks that the job fits a skeleton and that its values are valid.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Argument`] or [`Error::At`], naming the joint or the field.
    fn validate(&self, skeleton: &Skeleton) -> Result<()>;

    /// Checks that a target is finite and has a weight in 0..=1.
    ///
    /// # Errors
    /// [`Error::Argument`], naming the field.
    fn check(&self, target: &Self::Target) -> Result<()>;

    /// Changes the pose of one instance. Job, target and lengths have been checked.
    fn run(&self, skeleton: &Skeleton, target: &Self::Target, pose: IkPose<'_>) -> IkReport;
}

/// Checks that `axis` has a direction.
pub(crate) fn expect_axis(what: &'static str, axis: glam::Vec3) -> Result<()> {
    expect_all_finite(what, axis.to_array())?;
    if super::maths::unit(axis).is_some() {
        return Ok(());
    }
    Err(Error::invalid(what, "has no direction"))
}

/// Checks that `rotation` has length 1, to within 1 %.
pub(crate) fn expect_rotation(what: &'static str, rotation: Quat) -> Result<()> {
    expect_all_finite(what, rotation.to_array())?;
    expect_in(what, rotation.length(), 0.99, 1.01)
}
