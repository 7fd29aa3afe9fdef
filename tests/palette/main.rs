//! Tests of palettes of many instances in every format, and of the poses that a format can
//! represent.

#[path = "../reference/mod.rs"]
mod reference;

mod batch;
mod format;
mod method;
mod method_check;
mod method_reference;
mod poses;
mod stage;
mod write_only;
