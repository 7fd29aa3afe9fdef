//! The instances of a crowd: their table, attachments, handles, snapshots and picking.

pub(crate) mod attachments;
pub(crate) mod control;
pub(crate) mod follow;
pub(crate) mod gpu_attachments;
pub(crate) mod handle;
pub(crate) mod pick;
pub(crate) mod picture;
mod place_on_gpu;
pub(crate) mod restore;
pub(crate) mod snapshot;
pub(crate) mod spawn;
pub(crate) mod state;
pub(crate) mod table;
pub(crate) mod world;
