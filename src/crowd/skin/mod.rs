//! The stage skin: vertices that are deformed before they are drawn.

pub(crate) mod cpu_skinning;
mod record;
pub(crate) mod skinned_vertices;
