//! References to joints and sockets, by id or name.

use crate::character::AnimationSet;
use crate::error::{Error, Result, expect_index};
use crate::id::{Id, unknown};
use crate::skeleton::{Joint, Skeleton, Socket};

/// Selects a joint or a [socket](crate::character::Character::sockets) of a character.
///
/// A socket is a fixed offset from a joint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JointRef<'a> {
    /// A joint by its index.
    Id(Id<Joint>),
    /// A socket by its id.
    Socket(Id<Socket>),
    /// The socket with this name. If there is none, the first joint with this name.
    Name(&'a str),
}

impl From<Id<Joint>> for JointRef<'_> {
    fn from(joint: Id<Joint>) -> Self {
        Self::Id(joint)
    }
}

impl From<Id<Socket>> for JointRef<'_> {
    fn from(socket: Id<Socket>) -> Self {
        Self::Socket(socket)
    }
}

impl<'a> From<&'a str> for JointRef<'a> {
    fn from(name: &'a str) -> Self {
        Self::Name(name)
    }
}

impl JointRef<'_> {
    /// The joint, and the offset from it.
    pub(crate) fn find(self, skeleton: &Skeleton, set: &AnimationSet) -> Result<Socket> {
        let sockets = &set.sockets;
        match self {
            Self::Id(joint) => {
                expect_index("joint", joint.index(), skeleton.len())?;
                Ok(Socket::at(joint))
            }
            Self::Socket(socket) => {
                let found = sockets.get(socket.index()).copied();
                found.ok_or(Error::not_found("socket", socket.index(), sockets.len()))
            }
            Self::Name(name) => {
                let socket = set.socket(name).map(|socket| sockets[socket.index()]);
                let found = socket.or_else(|_| skeleton.joint(name).map(Socket::at));
                let joints = skeleton.joints().iter().map(|joint| &joint.name);
                let known = set.socket_names.iter().chain(joints).map(|it| &**it);
                found.map_err(|_| unknown("joint or socket", name, known))
            }
        }
    }
}
