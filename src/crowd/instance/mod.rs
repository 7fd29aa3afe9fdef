//! The instances of a crowd: spawned, read, controlled and picked.

pub(super) mod control;
pub(super) mod follow;
pub(super) mod handle;
pub(super) mod pick;
pub(super) mod snapshot;
pub(super) mod spawn;
pub(super) mod world;
