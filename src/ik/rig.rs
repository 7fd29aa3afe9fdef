//! The joint hierarchy prepared for inverse kinematics.

use crate::error::{Error, Result};
use crate::id::Id;
use crate::skeleton::{Joint, Skeleton, Transform};
use glam::{Affine3A, Quat};

/// A skeleton in depth-first order, prepared for inverse kinematics.
///
/// The joints below any joint form one contiguous list, parents first. Build it once per character.
/// All of the character's [`IkJob`](crate::ik::IkJob)s can use it, from any number of threads.
///
/// ```
/// use throng::ik::IkRig;
///
/// let character = throng::builtin::mannequin()?.character;
/// let rig = IkRig::new(character.skeleton());
/// let hand = character.skeleton().joint("LeftHand").unwrap_or_default();
/// assert_eq!(rig.descendants(hand).len(), 15); // five fingers of three joints
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct IkRig {
    joints: Box<[RigJoint]>,
    /// Joints in depth-first order.
    order: Box<[Id<Joint>]>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct RigJoint {
    parent: Option<Id<Joint>>,
    /// Position in the order, and the number of joints in the subtree, including this one.
    place: u32,
    size: u32,
    rest: Quat,
}

impl IkRig {
    /// Prepares `skeleton`.
    #[must_use]
    pub fn new(skeleton: &Skeleton) -> Self {
        let joint = |joint: &Joint| RigJoint {
            parent: joint.parent,
            place: 0,
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
            let place = next[above];
            next[above] += size;
            next[index] = place + 1;
            joints[index].place = place;
            order[place as usize] = Id::new(index as u16);
        }
        Self { joints, order }
    }

    /// The number of joints.
    #[must_use]
    pub fn len(&self) -> usize {
        self.joints.len()
    }

    /// True if there are no joints.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.joints.is_empty()
    }

    /// The joints below `joint`, without it, every parent before its children.
    ///
    /// Empty for a joint that does not exist.
    #[must_use]
    pub fn descendants(&self, joint: Id<Joint>) -> &[Id<Joint>] {
        self.subtree(joint).get(1..).unwrap_or(&[])
    }

    /// [`Self::descendants`] including the joint itself.
    fn subtree(&self, joint: Id<Joint>) -> &[Id<Joint>] {
        let Some(joint) = self.joints.get(usize::from(joint)) else {
            return &[];
        };
        let (place, size) = (joint.place as usize, joint.size as usize);
        &self.order[place..place + size]
    }

    /// The parent of a joint. `None` for a root and for a joint that does not exist.
    #[must_use]
    pub fn parent(&self, joint: Id<Joint>) -> Option<Id<Joint>> {
        self.joints.get(joint.index())?.parent
    }

    /// True if `joint` is a descendant of `above`.
    #[must_use]
    pub fn is_below(&self, joint: Id<Joint>, above: Id<Joint>) -> bool {
        let get = |joint: Id<Joint>| self.joints.get(usize::from(joint));
        let (Some(joint), Some(above)) = (get(joint), get(above)) else {
            return false;
        };
        joint.place > above.place && joint.place - above.place < above.size
    }

    /// Recomputes the model pose of `joint` and of all joints below it.
    ///
    /// It computes them from the local pose. The bits are the same as those that
    /// [`Skeleton::model_pose`](crate::skeleton::Skeleton::model_pose) computes for all joints.
    ///
    /// # Errors
    /// - [`Error::NotFound`] if the joint does not exist.
    /// - [`Error::Argument`] if a slice does not have one element per joint.
    pub fn update(
        &self,
        joint: Id<Joint>,
        local: &[Transform],
        model: &mut [Affine3A],
    ) -> Result<()> {
        self.expect_joint(joint)?;
        self.expect_poses(1, local.len(), model.len())?;
        self.recompute(joint, local, model);
        Ok(())
    }

    /// [`Self::update`] for arguments that were already checked.
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
        if usize::from(joint) < self.joints.len() {
            return Ok(());
        }
        Err(Error::NotFound {
            what: "joint",
            index: joint.into(),
            count: self.joints.len() as u64,
        })
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

    /// Checks that both poses have as many elements as `instances` need.
    pub(crate) fn expect_poses(&self, instances: usize, local: usize, model: usize) -> Result<()> {
        let need = self.joints.len().saturating_mul(instances);
        crate::error::expect_len("local pose", local, need)?;
        crate::error::expect_len("model pose", model, need)
    }
}
