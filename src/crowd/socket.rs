//! Where joints of instances are, for what is attached to them.

use super::InstanceId;
use super::state::Crowd;
use crate::animator::JointRef;
use crate::error::Result;
use crate::skeleton::{Affine, Socket};

impl Crowd {
    /// World space from a joint's or a socket's space at the engine's `time_s`: of what the
    /// instance plays now, where it stands now. Only the joint and those above it are evaluated;
    /// any time will do, before or after that of the frame. An instance in a pose of the caller's
    /// is in that at any time.
    ///
    /// For something attached to a joint, such as a sword: `crowd.joint_transform(id, "RightHand",
    /// time_s)? * hand_from_sword`.
    ///
    /// # Errors
    /// [`Error::Stale`](crate::Error::Stale) or [`Error::NotFound`](crate::Error::NotFound) if the
    /// instance is not alive; [`Error::NotFound`](crate::Error::NotFound) or
    /// [`Error::UnknownName`](crate::Error::UnknownName) for a joint or socket that its character
    /// lacks.
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
        let (animator, actor) = self.actor(id)?;
        animator.joint_model(actor, joint, time_s)
    }

    /// Character space from a socket's space, of which the joint is the character's.
    pub(super) fn socket_model(
        &self,
        id: InstanceId,
        socket: &Socket,
        time_s: f64,
    ) -> Result<Affine> {
        let (animator, actor) = self.actor(id)?;
        let model = animator.joint_model(actor, socket.joint, time_s)?;
        Ok(model * socket.offset)
    }
}
