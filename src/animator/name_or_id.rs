//! The ids of actors, and references to what a character has, by id or name.

use crate::character::AnimationSet;
use crate::error::{Error, Result, expect_index, expect_transform};
use crate::id::{Id, find, unknown};
use crate::mesh::PartId;
use crate::skeleton::{Joint, Skeleton, Socket};

/// Identifies an actor of an animator.
///
/// The id of a removed actor is detected as stale, even if a new actor reuses its index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ActorId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

/// Selects something that a character has, by its id or its name.
///
/// Clips, blend spaces, masks, expressions, morph weights, parts and the parameters of a state
/// machine are selected like this. A name is searched for in a list; an id costs nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NameOrId<'a, I> {
    /// By its id.
    Id(I),
    /// By its name.
    Name(&'a str),
}

impl<T> NameOrId<'_, Id<T>> {
    /// The id, if it is in range or one of `names` is this name. `what` is the word for errors.
    pub(crate) fn find<'n>(
        self,
        what: &'static str,
        names: impl ExactSizeIterator<Item = &'n str> + Clone,
    ) -> Result<Id<T>> {
        match self {
            Self::Name(name) => find(what, names, name),
            Self::Id(id) => expect_index(what, id.index(), names.len()).map(|()| id),
        }
    }
}

impl<'a, I> From<&'a str> for NameOrId<'a, I> {
    fn from(name: &'a str) -> Self {
        Self::Name(name)
    }
}

impl<T> From<Id<T>> for NameOrId<'_, Id<T>> {
    fn from(id: Id<T>) -> Self {
        Self::Id(id)
    }
}

impl From<PartId> for NameOrId<'_, PartId> {
    fn from(part: PartId) -> Self {
        Self::Id(part)
    }
}

/// Selects a joint or a [socket](crate::character::Character::sockets) of a character.
///
/// A socket is a fixed offset from a joint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum JointRef<'a> {
    /// A joint by its index.
    Id(Id<Joint>),
    /// A socket by its id.
    Socket(Id<Socket>),
    /// The socket with this name. If there is none, the first joint with this name.
    Name(&'a str),
    /// An offset from a joint, whether the character has a socket there or not.
    Offset(Socket),
}

impl From<Socket> for JointRef<'_> {
    fn from(socket: Socket) -> Self {
        Self::Offset(socket)
    }
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
                let found = sockets.get(socket.index());
                found.map(|(_, socket)| *socket).ok_or(Error::not_found(
                    "socket",
                    socket.index(),
                    sockets.len(),
                ))
            }
            Self::Offset(socket) => {
                expect_index("joint", socket.joint.index(), skeleton.len())?;
                expect_transform("socket", &socket.offset)?;
                Ok(socket)
            }
            Self::Name(name) => {
                let socket = set.socket(name).map(|socket| sockets[socket.index()].1);
                let found = socket.or_else(|_| skeleton.joint(name).map(Socket::at));
                let joints = skeleton.joints().iter().map(|joint| &*joint.name);
                let known = sockets.iter().map(|(name, _)| &**name).chain(joints);
                found.map_err(|_| unknown("joint or socket", name, known))
            }
        }
    }
}
