//! Sockets: places on joints where something is attached.

use crate::character::{Affine, JointId};

/// A place on a joint where something is attached: a sword, a muzzle flash, a camera.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Socket {
    /// The joint.
    pub joint: JointId,
    /// The joint's space from the socket's.
    pub offset: Affine,
}

impl Socket {
    /// The joint itself.
    #[must_use]
    pub const fn at(joint: JointId) -> Self {
        Self {
            joint,
            offset: Affine::IDENTITY,
        }
    }

    /// World space from the socket's, of an instance whose joint has the model matrix `model_from_joint`.
    #[must_use]
    pub fn world(&self, world_from_model: &Affine, model_from_joint: &Affine) -> Affine {
        *world_from_model * *model_from_joint * self.offset
    }
}
