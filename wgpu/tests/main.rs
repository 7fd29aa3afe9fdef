//! Tests of crowds in wgpu on a real driver, under the validation layer.
//!
//! wgpu switches synchronization validation on, and hands messages to the logger. Any message fails
//! a test.

mod support;

mod callbacks;
mod dropping;
mod flight;
mod late;
mod pictures;
mod refused;
