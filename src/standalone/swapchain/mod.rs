//! Something to draw into that is seen: a window's images.
//!
//! Each image has a semaphore of its own for the end of its rendering, because
//! presenting waits for it at a time that no fence tells: one per frame in flight could be
//! signalled again while an earlier present still waits for it.

mod built;
mod shown;
pub use shown::{Acquire, PATIENCE, SwapchainImage};
mod state;
pub use state::Swapchain;
pub use state::SwapchainDesc;
