//! Who writes which palette and which vertices of a frame: data kept from frame to frame.

pub(in crate::crowd) mod animated;
pub(in crate::crowd) mod deforms;
