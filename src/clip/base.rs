//! The pose under a clip: the rest pose, or the reference pose of an additive clip.

use crate::skeleton::Transform;

/// The pose that a clip's tracks replace or add to, and on which errors are measured.
///
/// It has one transform per joint.
#[derive(Debug, Clone, Copy)]
pub(super) enum Base<'a> {
    /// The rest pose: the clip replaces it.
    Rest(&'a [Transform]),
    /// The pose that an additive clip is added to. Without tracks, the difference is the identity.
    Reference(&'a [Transform]),
}

impl Base<'_> {
    pub(super) const fn is_additive(self) -> bool {
        matches!(self, Self::Reference(_))
    }

    /// The transform of a joint that no track drives.
    pub(super) fn at_rest(self, joint: usize) -> Transform {
        match self {
            Self::Rest(rest) => rest[joint],
            Self::Reference(_) => Transform::IDENTITY,
        }
    }
}
