//! Where joints of instances are, for what is attached to them.

use super::{Crowd, InstanceId};
use crate::character::{Affine, JointId, Skeleton};
use crate::error::Result;

/// A joint of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JointRef<'a> {
    /// By its index.
    Id(JointId),
    /// The first of this name.
    Name(&'a str),
}

impl From<JointId> for JointRef<'_> {
    fn from(joint: JointId) -> Self {
        Self::Id(joint)
    }
}

impl<'a> From<&'a str> for JointRef<'a> {
    fn from(name: &'a str) -> Self {
        Self::Name(name)
    }
}

impl JointRef<'_> {
    pub(super) fn find(self, skeleton: &Skeleton) -> Result<JointId> {
        match self {
            Self::Id(joint) => Ok(joint),
            Self::Name(name) => skeleton.joint(name),
        }
    }
}

impl Crowd {
    /// World space from a joint's space at the engine's `time_s`: of what the instance plays now, where it stands now. Only
    /// the joint and those above it are evaluated; any time will do, before or after that of the
    /// frame. An instance in a pose of the caller's is in that at any time.
    ///
    /// For something attached to a joint, such as a sword: `crowd.joint_transform(id, "RightHand", time_s)? * hand_from_sword`.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if the instance is not alive; [`Error::NotFound`] or [`Error::UnknownName`] for a joint that
    /// its character lacks.
    pub fn joint_transform<'a>(
        &self,
        id: InstanceId,
        joint: impl Into<JointRef<'a>>,
        time_s: f64,
    ) -> Result<Affine> {
        let model = self.joint_model(id, joint, time_s)?;
        let world_from_model = self.instances.get(id)?.record.world_from_model;
        Ok(world_from_model.to_affine() * model)
    }

    /// The same in the character's own space, wherever the instance stands.
    ///
    /// # Errors
    /// As [`Self::joint_transform`].
    pub fn joint_model<'a>(
        &self,
        id: InstanceId,
        joint: impl Into<JointRef<'a>>,
        time_s: f64,
    ) -> Result<Affine> {
        let character = self.character_of(id)?;
        let joint = joint.into().find(self.entry(character)?.rig.skeleton())?;
        let (animator, actor) = self.actor(id)?;
        animator.joint_model(actor, joint, time_s)
    }
}
