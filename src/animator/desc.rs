//! What an animator is made for.

use crate::Threads;

/// What an [`Animator`](super::instances::Animator) is made for.
#[derive(Debug, Clone, Default)]
pub struct AnimatorDesc {
    /// How many actors to make room for; more can be added.
    pub actors: usize,
    /// The threads that poses are evaluated on.
    pub threads: Threads,
}
