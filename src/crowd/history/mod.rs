//! What motion vectors need from the frame before.

pub(in crate::crowd) mod buffer;
pub(in crate::crowd) mod views;
