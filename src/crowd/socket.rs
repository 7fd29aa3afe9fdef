//! Where joints of instances are, for what is attached to them.

use super::{Crowd, InstanceId};
use crate::character::{Affine, Character, JointId, SocketId};
use crate::error::{Error, Result};
use crate::pose::Socket;

/// A joint of a character, or a [socket](crate::character::AnimationSet::sockets): a place on a joint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JointRef<'a> {
    /// By its index.
    Id(JointId),
    /// A socket by its id.
    Socket(SocketId),
    /// The socket of this name; if there is none, the first joint of this name.
    Name(&'a str),
}

impl From<JointId> for JointRef<'_> {
    fn from(joint: JointId) -> Self {
        Self::Id(joint)
    }
}

impl From<SocketId> for JointRef<'_> {
    fn from(socket: SocketId) -> Self {
        Self::Socket(socket)
    }
}

impl<'a> From<&'a str> for JointRef<'a> {
    fn from(name: &'a str) -> Self {
        Self::Name(name)
    }
}

impl JointRef<'_> {
    /// The joint, and the place on it.
    pub(super) fn find(self, rig: &Character) -> Result<Socket> {
        let sockets = rig.animations().sockets();
        let skeleton = rig.skeleton();
        match self {
            Self::Id(joint) if joint.index() < skeleton.len() => Ok(Socket::at(joint)),
            Self::Id(joint) => Err(Error::NotFound {
                what: "joint",
                index: joint.index() as u64,
                count: skeleton.len() as u64,
            }),
            Self::Socket(socket) => {
                let found = sockets.get(socket.index()).map(|named| named.socket);
                found.ok_or(Error::NotFound {
                    what: "socket",
                    index: socket.index() as u64,
                    count: sockets.len() as u64,
                })
            }
            Self::Name(name) => match sockets.iter().find(|socket| &*socket.name == name) {
                Some(named) => Ok(named.socket),
                None => skeleton.joint(name).map(Socket::at),
            },
        }
    }
}

impl Crowd {
    /// World space from a joint's or a socket's space at the engine's `time_s`: of what the instance plays now, where it stands now. Only
    /// the joint and those above it are evaluated; any time will do, before or after that of the
    /// frame. An instance in a pose of the caller's is in that at any time.
    ///
    /// For something attached to a joint, such as a sword: `crowd.joint_transform(id, "RightHand", time_s)? * hand_from_sword`.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if the instance is not alive; [`Error::NotFound`] or [`Error::UnknownName`] for a joint or
    /// socket that its character lacks.
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
        let socket = joint.into().find(&self.entry(character)?.rig)?;
        self.socket_model(id, &socket, time_s)
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
