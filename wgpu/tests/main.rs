//! Tests of crowds in wgpu on a real driver, under the validation layer.
//!
//! wgpu switches synchronization validation on, and hands messages to the logger. Any message fails
//! a test.

#[cfg(feature = "wgpu-29")]
extern crate wgpu29 as wgpu;
#[cfg(feature = "wgpu-30")]
extern crate wgpu30 as wgpu;

mod support;

use throng_reference as reference;

mod callbacks;
mod dropping;
mod flight;
mod late;
#[allow(dead_code, reason = "shared with the tests of shading")]
#[path = "../../tests/gpu/materials/made.rs"]
mod made;
mod material;
mod opening;
mod pictures;
mod refused;
mod resumed;
mod reveal;
