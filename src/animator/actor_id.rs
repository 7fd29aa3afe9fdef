//! The ids of actors.

/// Identifies an actor of an animator.
///
/// The id of a removed actor is detected as stale, even if a new actor reuses its index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ActorId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}
