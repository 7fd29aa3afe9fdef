//! What a clip is made over: the rest pose, or a reference that it is the difference from.

use crate::skeleton::Transform;

/// What a clip's tracks are laid over, and what errors are measured on: one transform a joint.
#[derive(Debug, Clone, Copy)]
pub(super) enum Base<'a> {
    /// The rest pose.
    Rest(&'a [Transform]),
    /// No difference, for a clip that is added to this pose.
    Reference(&'a [Transform]),
}

impl Base<'_> {
    pub(super) const fn is_additive(self) -> bool {
        matches!(self, Self::Reference(_))
    }

    /// What a joint has that no track drives.
    pub(super) fn at_rest(self, joint: usize) -> Transform {
        match self {
            Self::Rest(rest) => rest[joint],
            Self::Reference(_) => Transform::IDENTITY,
        }
    }
}
