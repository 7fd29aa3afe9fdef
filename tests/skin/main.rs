//! Tests of morphing, of CPU skinning by every method, and of picking.

#[path = "../reference/mod.rs"]
mod reference;

mod directions;
mod methods;
mod morph;
mod pick;
mod skinner;
mod stage;
mod twist;
