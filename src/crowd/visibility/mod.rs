//! Which instances a view shows, and in which order.

pub(in crate::crowd) mod marks;
pub(in crate::crowd) mod runs;
pub(in crate::crowd) mod sorted;
