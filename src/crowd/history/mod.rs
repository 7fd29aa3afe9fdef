//! State of the previous frame, against which motion vectors are measured.

pub(in crate::crowd) mod buffer;
pub(in crate::crowd) mod views;
