//! Producers of a frame's palettes, morph weights and deformed vertices.

pub(in crate::crowd) mod animate;
pub(in crate::crowd) mod deform;
pub(in crate::crowd) mod skin;
pub(in crate::crowd) mod skinned_vertices;
