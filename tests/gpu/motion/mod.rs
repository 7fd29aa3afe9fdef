//! Motion vectors, against a model of what every view saw last.

mod chance;
mod events;
mod growth;
mod refusals;
mod stage;
