//! Tests of morphing, of CPU skinning by every method, and of picking.

#[cfg(unix)]
#[path = "../support/guarded.rs"]
mod guarded;

mod directions;
#[cfg(unix)]
mod guard_pages;
mod methods;
mod morph;
mod pick;
mod pose_steps;
mod refits;
mod skinner;
mod stage;
mod twist;

use throng_reference as reference;
