//! State machines: compared with a plain simulation in `f64`, their rules, their text and its
//! errors.

mod agreement;
mod faults;
mod lists;
pub(crate) mod made;
mod rules;
mod simulation;
mod simulation_steps;
mod text;
