//! Sockets: positions on joints at which something is attached.

use super::joints::Joint;
use crate::id::Id;
use glam::Affine3A;

/// A position on a joint at which something is attached.
///
/// Examples are a sword, a muzzle flash and a camera. A character has named sockets
/// ([`Character::socket`](crate::character::Character::socket)).
/// [`Actor::joint_model`](crate::animator::Actor::joint_model) returns the model matrix of an
/// instance's joint at any time. `Crowd` can make instances follow a socket.
///
/// ```
/// use throng::animator::Animator;
/// use throng::glam::{Affine3A, Vec3};
/// use throng::skeleton::Socket;
///
/// let character = throng::builtin::mannequin()?.character;
/// let mut animator = Animator::new(&character)?;
/// let id = animator.add("Walk")?;
/// animator.update(0.4)?;
///
/// let socket = Socket::at(character.skeleton().joint("RightHand")?);
/// let model_from_hand = animator.actor(id)?.joint_model(socket.joint, 0.4)?;
/// let world_from_model = Affine3A::from_translation(Vec3::X * 10.0);
/// let world_from_hand = world_from_model * model_from_hand * socket.offset;
/// assert!(world_from_hand.translation.x > 9.0);
/// # Ok::<(), throng::Error>(())
/// ```
#[doc(alias = "attachment point")]
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Socket {
    /// The joint.
    pub joint: Id<Joint>,
    /// The transform from the socket's space to the joint's space.
    pub offset: Affine3A,
}

impl Socket {
    /// A socket at the joint itself.
    #[must_use]
    pub const fn at(joint: Id<Joint>) -> Self {
        Self {
            joint,
            offset: Affine3A::IDENTITY,
        }
    }
}
