//! Vulkan setup for programs without an engine: examples, tests and benches.
//!
//! The rest of the crate records into command buffers that the application owns. This module is a
//! minimal such application: one instance, one device, one queue, and something to draw into.
//!
//! ```text
//! Context ── instance, device, queue, allocator, validation messages
//!    ├── Target      colour and depth without a window, read back as bytes
//!    ├── Swapchain   the same with a window
//!    ├── Frames      frames in flight: command buffer, fence, acquire semaphore
//!    └── Buffer      mapped or device-local, read back as bytes
//! ```
//!
//! Without a window:
//!
//! ```no_run
//! use throng::standalone::{Begin, Context, ContextDesc, Target, TargetDesc};
//!
//! # fn main() -> Result<(), throng::standalone::StandaloneError> {
//! let mut context = Context::new(&ContextDesc::default())?;
//! let mut target = Target::new(&mut context, &TargetDesc::default())?;
//! context.submit_and_wait(|device, cmd| {
//!     // SAFETY: `cmd` is recording, outside of rendering, and `end` follows.
//!     unsafe {
//!         target.begin(device, cmd, &Begin::default());
//!         target.end(device, cmd);
//!     }
//! })?;
//! let rgba = target.read_rgba(&mut context)?;
//! target.destroy(&mut context);
//! # Ok(())
//! # }
//! ```
//!
//! Destroy every object with the context that it was created with, by its own `destroy`. Another
//! context is rejected with [`StandaloneError::ForeignContext`]. An object that is dropped instead
//! is logged, and destroyed when its context is dropped. Objects may outlive their context: the
//! device is destroyed when the context and all of its objects are.
//!
//! # Errors
//!
//! A call that fails ends in a [`StandaloneError`] with the call's name and result. Afterwards:
//!
//! - [`StandaloneError::DeviceLost`]: destroy everything and start again with a new [`Context`].
//! - [`StandaloneError::SurfaceLost`]: give the [`Swapchain`] a new surface. Its documentation says
//!   how, and what an app for Android does.
//! - Other errors: the objects can still be used. A frame whose submission failed must be begun
//!   again.
//!
//! # Drivers with incomplete Vulkan support
//!
//! Drivers on top of another graphics API, such as MoltenVK, have two requirements:
//!
//! - The instance lists them only if it enables `VK_KHR_portability_enumeration`.
//! - The device must enable `VK_KHR_portability_subset`.
//!
//! A [`Context`] enables both if they are offered. This has not been tested on such a driver.

mod advice;
mod attachments;
mod buffer;
mod context;
mod context_desc;
mod device;
mod device_info;
mod device_owner;
mod error;
mod features;
mod formats;
mod frames;
mod handles;
mod idle;
mod image;
mod image_rules;
mod instance;
mod memory_rules;
mod one_off;
mod readback;
mod select;
mod surface;
mod swapchain;
mod target;
mod validation;

pub use advice::{display_advice, has_display};
pub use attachments::Begin;
pub use buffer::{Buffer, BufferDesc};
pub use context::Context;
pub use context_desc::{ContextDesc, DEVICE_VARIABLE};
pub use device_info::{DeviceInfo, DeviceReport, Missing};
pub use error::{Result, StandaloneError};
pub use features::FeatureSet;
pub use formats::Formats;
pub use frames::{FrameCommands, Frames};
pub use handles::Handles;
pub use readback::{ImageRead, read_buffer, read_image};
// For the tests and benches of this crate: not part of the API.
#[doc(hidden)]
pub use select::select;
pub use surface::{Surface, Window};
pub use swapchain::{Acquire, PATIENCE, Rotation, Swapchain, SwapchainDesc, SwapchainImage};
pub use target::{Target, TargetDesc};
pub use validation::{Message, Messages, Severity, Validation};
