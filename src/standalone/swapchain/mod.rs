//! The images of a window, to draw into and present.
//!
//! Each image has its own semaphore for the end of its rendering. Presenting waits for it, and no
//! fence tells when that wait has ended. A semaphore per frame in flight could be signalled again
//! while an earlier present still waits for it.

mod built;
mod image;
mod rotation;
mod shown;
mod state;

pub use image::SwapchainImage;
pub use rotation::Rotation;
pub use shown::{Acquire, PATIENCE};
pub use state::{Swapchain, SwapchainDesc};
