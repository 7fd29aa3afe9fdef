//! The stage draw: passes, their pipelines, and the draws of a frame.

pub(crate) mod bindings;
pub(crate) mod passes;
mod record;
