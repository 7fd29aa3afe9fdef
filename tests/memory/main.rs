//! Tests of memory use.
//!
//! Per-frame work allocates nothing once it is warm, and a small file cannot make the importer
//! allocate much. Only threads that do the measured work are counted, see [`counting`].

#[path = "../import/builder.rs"]
mod builder;
mod counting;
#[path = "../skin/skinner/load.rs"]
mod load;

mod animator;
mod batch;
#[cfg(feature = "vulkan")]
mod crowd;
mod import;
mod skinner;
mod springs;
mod state_machine;

use throng_reference as reference;
