//! Who writes palettes, morph weights and deformed vertices of a frame.

pub(in crate::crowd) mod animate;
pub(in crate::crowd) mod deform;
pub(in crate::crowd) mod skin;
pub(in crate::crowd) mod skinned_vertices;
