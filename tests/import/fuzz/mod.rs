//! Mutated files never panic, hang or allocate without a bound.
//!
//! The mutants are the same in each run. Each must give a character or an error.

mod bytes;
mod invariants;
mod json;
mod mutants;
mod readers;
mod seeds;
mod targets;

pub(super) use invariants::digest;
pub(super) use mutants::{Random, factor};
pub(super) use seeds::everything;
