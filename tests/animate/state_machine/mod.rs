//! State machines: compared with a plain simulation in `f64`, their rules, their text and its
//! errors.

mod agreement;
mod faults;
#[cfg(feature = "toml")]
mod lists;
pub(crate) mod made;
#[cfg(feature = "toml")]
mod rules;
mod simulation;
mod simulation_steps;
#[cfg(feature = "toml")]
mod text;
