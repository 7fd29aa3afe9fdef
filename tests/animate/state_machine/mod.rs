//! State machines against a plain simulation in `f64`, their rules one by one, their text, and what
//! is wrong with it.
#![cfg(feature = "toml")]

mod agreement;
mod faults;
mod made;
mod rules;
mod simulation;
mod text;
