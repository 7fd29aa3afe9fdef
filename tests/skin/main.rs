//! Tests of morphing, of CPU skinning by every method, and of picking.

#[cfg(unix)]
#[path = "../support/guarded.rs"]
mod guarded;
#[path = "../reference/mod.rs"]
mod reference;

mod directions;
#[cfg(unix)]
mod guard_pages;
mod methods;
mod morph;
mod pick;
mod skinner;
mod stage;
mod twist;
