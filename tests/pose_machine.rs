//! State machines against a plain simulation in `f64`, their rules one by one, their text, and what
//! is wrong with it.
#![cfg(feature = "toml")]

#[path = "machine/agreement.rs"]
mod agreement;
#[path = "machine/faults.rs"]
mod faults;
#[path = "machine/made.rs"]
mod made;
mod reference;
#[path = "machine/rules.rs"]
mod rules;
#[path = "machine/simulation.rs"]
mod simulation;
#[path = "machine/text.rs"]
mod text;
