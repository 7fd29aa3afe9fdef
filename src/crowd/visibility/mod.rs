//! The instances that a view shows, and their order.

mod bits;
pub(in crate::crowd) mod chunks;
pub(in crate::crowd) mod cull;
mod decide;
pub(in crate::crowd) mod marks;
pub(in crate::crowd) mod runs;
pub(in crate::crowd) mod slot;
pub(in crate::crowd) mod sorted;
