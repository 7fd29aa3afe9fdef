//! Passes, bindings and draws.

pub(in crate::crowd) mod bindings;
pub(in crate::crowd) mod passes;
pub(in crate::crowd) mod record;
pub(in crate::crowd) mod shadow_map;
