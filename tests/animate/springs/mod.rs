//! Spring bones: against a plain reference, at any frame rate, and with anything as input.

mod bodies;
mod collision;
mod contract;
mod control;
mod formula;
mod rates;
mod stability;
