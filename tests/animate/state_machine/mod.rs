//! State machines: compared with a plain simulation in `f64`, their rules, their text and its
//! errors.
#![cfg(feature = "toml")]

mod agreement;
mod faults;
mod made;
mod rules;
mod simulation;
mod text;
