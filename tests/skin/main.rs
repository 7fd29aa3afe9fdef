//! Morphing, skinning on the CPU by every method, and picking.

#[path = "../reference/mod.rs"]
mod reference;

mod directions;
mod methods;
mod morph;
mod pick;
mod skinner;
mod stage;
mod twist;
