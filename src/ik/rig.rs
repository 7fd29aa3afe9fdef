//! The joint hierarchy prepared for inverse kinematics, and the trait that all IK jobs share.

use crate::error::{Error, Result, expect_all_finite, expect_in, expect_index, expect_len};
use crate::id::Id;
use crate::skeleton::{Joint, Skeleton, Transform};
use glam::{Affine3A, Quat};

/// A skeleton in depth-first order, prepared for inverse kinematics.
///
/// Build it once per character, for [`IkSolver::solve`](crate::IkSolver::solve). An
/// [`Animator`](crate::animator::Animator) has its own.
#[derive(Debug, Clone, PartialEq)]
pub struct IkRig {
    joints: Box<[RigJoint]>,
    /// Joints in depth-first order.
    order: Box<[Id<Joint>]>,
}

/// The pose of one instance: one element per joint.
///
/// Before and after a solver, the model pose matches the local one as
/// [`Skeleton::model_pose`](crate::skeleton::Skeleton::model_pose) computes it.
#[derive(Debug)]
pub struct IkPose<'a> {
    /// Local transforms: from each joint's space to its parent's.
    pub local: &'a mut [Transform],
    /// Model transforms: from each joint's space to character space.
    pub model: &'a mut [Affine3A],
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct RigJoint {
    parent: Option<Id<Joint>>,
    /// Rank in the order, and the number of joints in the subtree, including this one.
    rank: u32,
    size: u32,
    rest: Quat,
}

impl IkRig {
    /// Prepares `skeleton`.
    #[must_use]
    pub fn new(skeleton: &Skeleton) -> Self {
        let joint = |joint: &Joint| RigJoint {
            parent: joint.parent,
            rank: 0,
            size: 1,
            rest: joint.rest.rotation,
        };
        let mut joints: Box<[RigJoint]> = skeleton.joints().iter().map(joint).collect();
        for index in (0..joints.len()).rev() {
            let RigJoint { parent, size, .. } = joints[index];
            if let Some(parent) = parent {
                joints[parent.index()].size += size;
            }
        }
        // The index for the next child of each joint; the last one is for roots.
        let mut next = vec![0; joints.len() + 1];
        let mut order = vec![Id::new(0); joints.len()].into_boxed_slice();
        for index in 0..joints.len() {
            let RigJoint { parent, size, .. } = joints[index];
            let above = parent.map_or(joints.len(), Id::index);
            let rank = next[above];
            next[above] += size;
            next[index] = rank + 1;
            joints[index].rank = rank;
            order[rank as usize] = Id::new(index as u16);
        }
        Self { joints, order }
    }

    /// The joint and the joints below it, every parent before its children.
    ///
    /// Empty for a joint that does not exist.
    fn subtree(&self, joint: Id<Joint>) -> &[Id<Joint>] {
        let Some(joint) = self.joints.get(usize::from(joint)) else {
            return &[];
        };
        let (rank, size) = (joint.rank as usize, joint.size as usize);
        &self.order[rank..rank + size]
    }

    /// The parent of a joint. `None` for a root and for a joint that does not exist.
    pub(crate) fn parent(&self, joint: Id<Joint>) -> Option<Id<Joint>> {
        self.joints.get(joint.index())?.parent
    }

    fn is_below(&self, joint: Id<Joint>, above: Id<Joint>) -> bool {
        let get = |joint: Id<Joint>| self.joints.get(usize::from(joint));
        let (Some(joint), Some(above)) = (get(joint), get(above)) else {
            return false;
        };
        joint.rank > above.rank && joint.rank - above.rank < above.size
    }

    /// Recomputes the model pose of `joint` and of all joints below it from the local pose.
    ///
    /// The bits are the same as those that
    /// [`Skeleton::model_pose`](crate::skeleton::Skeleton::model_pose) computes for all joints. The
    /// poses have one element per joint.
    pub(crate) fn recompute(&self, joint: Id<Joint>, local: &[Transform], model: &mut [Affine3A]) {
        for joint in self.subtree(joint) {
            let parent_from_local = local[usize::from(*joint)].to_affine();
            model[usize::from(*joint)] = match self.parent(*joint) {
                None => parent_from_local,
                Some(parent) => model[parent.index()] * parent_from_local,
            };
        }
    }

    /// The rotation of a joint in the rest pose.
    pub(crate) fn rest(&self, joint: Id<Joint>) -> Quat {
        self.joints
            .get(usize::from(joint))
            .map_or(Quat::IDENTITY, |joint| joint.rest)
    }

    /// The model matrix of a joint's parent.
    pub(crate) fn parent_model(&self, joint: Id<Joint>, model: &[Affine3A]) -> Affine3A {
        let parent = self.parent(joint);
        parent.map_or(Affine3A::IDENTITY, |parent| model[parent.index()])
    }

    /// Maps the space of `bottom`'s parent to the space of `top`, which is above it.
    ///
    /// It is the product of the joints between them.
    pub(crate) fn between(
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

    pub(crate) fn expect_joint(&self, joint: Id<Joint>) -> Result<()> {
        expect_index("joint", joint.into(), self.joints.len())
    }

    /// Checks that `joint` exists and is a descendant of `above`. Errors call it `what`.
    pub(crate) fn expect_below(
        &self,
        what: &'static str,
        joint: Id<Joint>,
        above: Id<Joint>,
    ) -> Result<()> {
        self.expect_joint(above)?;
        self.expect_joint(joint)?;
        if self.is_below(joint, above) {
            return Ok(());
        }
        Err(Error::invalid(what, "is not below the joint before it")
            .at("joint", usize::from(joint)))
    }

    /// Checks that both poses have one element per joint.
    pub(crate) fn expect_pose(&self, pose: &IkPose<'_>) -> Result<()> {
        expect_len("local pose", pose.local.len(), self.joints.len())?;
        expect_len("model pose", pose.model.len(), self.joints.len())
    }
}

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
