//! Transforms of the joints and sockets of instances.

use super::InstanceId;
use super::state::Crowd;
use crate::animator::JointRef;
use crate::error::Result;
use crate::skeleton::Socket;
use glam::Affine3A;

impl Crowd {
    /// World space from a joint's or a socket's space, at time `time_s`.
    ///
    /// The instance's present transform and what it plays now are used. `time_s` is the engine's
    /// time and may be before or after that of the frame. Only the joint and its ancestors are
    /// evaluated. If the instance shows a pose that the caller set, `time_s` has no effect.
    ///
    /// For something attached to a joint, such as a sword: `crowd.joint_transform(id, "RightHand",
    /// time_s)? * hand_from_sword`.
    ///
    /// # Errors
    /// - [`Error::Stale`](crate::Error::Stale) or [`Error::NotFound`](crate::Error::NotFound) if
    ///   the instance is not alive.
    /// - [`Error::NotFound`](crate::Error::NotFound) or
    ///   [`Error::UnknownName`](crate::Error::UnknownName) if its character lacks the joint or
    ///   socket.
    #[doc(alias = "bone")]
    pub fn joint_transform<'a>(
        &self,
        id: InstanceId,
        joint: impl Into<JointRef<'a>>,
        time_s: f64,
    ) -> Result<Affine3A> {
        let model = self.joint_model(id, joint, time_s)?;
        let world_from_model = self.instances.get(id)?.record.world_from_model;
        Ok(world_from_model.to_affine() * model)
    }

    /// Character space from a joint's or a socket's space, at time `time_s`.
    ///
    /// Apart from the instance's transform, this is [`Self::joint_transform`].
    ///
    /// # Errors
    /// As [`Self::joint_transform`].
    #[doc(alias = "bone")]
    pub fn joint_model<'a>(
        &self,
        id: InstanceId,
        joint: impl Into<JointRef<'a>>,
        time_s: f64,
    ) -> Result<Affine3A> {
        let (animator, actor) = self.actor(id)?;
        animator.joint_model(actor, joint, time_s)
    }

    /// Character space from a socket's space. The socket's joint must belong to the character.
    pub(super) fn socket_model(
        &self,
        id: InstanceId,
        socket: &Socket,
        time_s: f64,
    ) -> Result<Affine3A> {
        let (animator, actor) = self.actor(id)?;
        let model = animator.joint_model(actor, socket.joint, time_s)?;
        Ok(model * socket.offset)
    }
}
