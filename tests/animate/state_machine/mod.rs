//! State machines: compared with a plain simulation in `f64`, their rules, their text and its
//! errors.

#[cfg(feature = "toml")]
mod agreement;
#[cfg(feature = "toml")]
mod faults;
pub(crate) mod made;
#[cfg(feature = "toml")]
mod rules;
#[cfg(feature = "toml")]
mod simulation;
#[cfg(feature = "toml")]
mod simulation_steps;
#[cfg(feature = "toml")]
mod text;
