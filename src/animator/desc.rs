//! Settings for creating an animator.

use crate::Threads;

/// Settings for creating an [`Animator`](super::instances::Animator).
#[derive(Debug, Clone, Default)]
pub struct AnimatorDesc {
    /// The number of actors to reserve memory for. More can be added.
    pub actors: usize,
    /// The threads that evaluate poses.
    pub threads: Threads,
}
