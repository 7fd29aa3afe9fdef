//! Changes between frames: characters, capacities and passes.

mod characters;
pub(super) mod growth;
pub(super) mod passes;
mod replace;
