//! What changes between frames: characters, capacities and passes.

mod characters;
pub(super) mod growth;
mod passes;
