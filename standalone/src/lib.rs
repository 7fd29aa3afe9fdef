//! Vulkan setup for programs without an engine: examples, tests and benches.
//!
//! The crate `throng` records into command buffers that the application owns. This crate is the
//! smallest such application: one instance, one device, one queue, and something to draw into.
//!
//! ```text
//! Context ── instance, device, queue, allocator, validation messages
//!    ├── Target      colour and depth without a window, read back as bytes
//!    ├── Swapchain   the same with a window
//!    ├── Frames      frames in flight: command buffer and fence
//!    └── Buffer      mapped or device-local, read back as bytes
//! ```
//!
//! [`EnvironmentImage`] filters images of surroundings, which engines do with tools of their own.
//!
//! Without a window:
//!
//! ```no_run
//! use throng_standalone::{Begin, Context, ContextDesc, Target, TargetDesc};
//!
//! # fn main() -> Result<(), throng_standalone::StandaloneError> {
//! let context = Context::new(&ContextDesc::default())?;
//! let target = Target::new(&context, &TargetDesc::default())?;
//! context.submit_and_wait(|device, cmd| {
//!     // SAFETY: `cmd` is recording, outside of rendering, and `end` follows.
//!     unsafe {
//!         target.begin(device, cmd, &Begin::default());
//!         target.end(device, cmd);
//!     }
//! })?;
//! let rgba = target.read_rgba()?;
//! # Ok(())
//! # }
//! ```
//!
//! Objects may be dropped in any order, and before or after their context. Each waits for the
//! device and destroys itself, and the last of them destroys the device. If the driver cannot wait,
//! this is logged and the objects are leaked. They all stay on the thread of their context, so the
//! queue needs no lock:
//!
//! ```compile_fail,E0277
//! # use throng_standalone::Target;
//! fn not_possible(target: Target) {
//!     std::thread::spawn(move || drop(target));
//! }
//! ```
//!
//! # Errors
//!
//! A call that fails ends in a [`StandaloneError`] with the call's name and result. Afterwards:
//!
//! - [`StandaloneError::DeviceLost`]: drop everything and start again with a new [`Context`].
//! - [`StandaloneError::SurfaceLost`]: create a new [`Swapchain`].
//! - Other errors: the objects can still be used. A frame whose submission failed must be begun
//!   again.
//!
//! # Drivers with incomplete Vulkan support
//!
//! Drivers on top of another graphics API, such as MoltenVK, need `VK_KHR_portability_enumeration`
//! and `VK_KHR_portability_subset`. A [`Context`] enables both if they are offered. This has not
//! been tested on such a driver.

mod advice;
mod attachments;
mod buffer;
mod context;
mod device;
mod environment;
mod error;
mod frames;
mod image;
mod instance;
mod memory;
mod readback;
mod surface;
mod swapchain;
mod target;
mod validation;

pub use attachments::Begin;
pub use buffer::Buffer;
pub use context::{Context, Handles};
pub use environment::EnvironmentImage;
pub(crate) use error::Result;
pub use error::StandaloneError;
pub use frames::{FrameCommands, Frames};
pub use instance::ContextDesc;
pub use swapchain::{Swapchain, SwapchainImage};
pub use target::{Target, TargetDesc};
pub use validation::Messages;

/// The examples of README.md are compiled as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
