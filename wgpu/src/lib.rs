//! Draws throng's crowds of skinned, animated characters in [wgpu](::wgpu), without unsafe code.
//!
//! [throng](::throng) needs Vulkan, so this works with wgpu's Vulkan backend.

pub use throng;
pub use wgpu;

mod check;
mod crowd;
mod encoder;
mod error;
mod flight;
mod frame;
mod gpu;
mod pass;
mod rendering;
mod space;

pub use crowd::Crowd;
pub use encoder::Encoder;
pub use error::{Error, Result};
pub use frame::Frame;
pub use gpu::Gpu;
pub use pass::{AfterPrepass, PassDesc};
pub use space::{shadow, view};
