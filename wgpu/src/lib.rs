//! Draws throng's crowds of skinned, animated characters in [wgpu], without unsafe code.
//!
//! [throng] needs Vulkan, so this works with wgpu's Vulkan backend.
//!
//! 1. [`Gpu::open`] takes the place of [`wgpu::Adapter::request_device`]. [`Opening`] is for
//!    engines that open the device themselves.
//! 2. [`Crowd`] has characters and instances. It is a [`throng::Crowd`] that owns its memory
//!    and knows when the GPU is done.
//! 3. [`Crowd::begin_frame`], [`Frame::prepare`] with a [`view`] of each camera and a view of each
//!    light ([`shadow_of`]), and [`Frame::draw`] with a [`wgpu::RenderPassDescriptor`] for each
//!    pass. [`Frame::prepare_behind`] leaves out instances behind walls, and [`Frame::reveal`]
//!    those behind others. [`Crowd::resume_frame`] is for draws elsewhere.
//! 4. [`MaterialDesc`] is for fragment shaders of the program, in WGSL with [`BindGroup`]s.
//! 5. [`Encoder`] is a [`wgpu::CommandEncoder`] that also takes the draws of crowds. It submits
//!    them in order with everything else.
//!
//! [`Crowd`] has an example of most of these, and `examples/wgpu` is a program with ground, shadows
//! and a window. Characters, clips and everything else that is not about drawing is in [throng],
//! which is exported again.
//!
//! # Example
//! Three passes in one submission: a shadow map, the program's own scene, and the crowd in it.
//!
//! ```no_run
//! use throng_wgpu::throng::{PassId, View};
//! use throng_wgpu::{Crowd, Encoder, Error, wgpu};
//!
//! struct Passes<'a> {
//!     shadow: (PassId, wgpu::RenderPassDescriptor<'a>),
//!     scene: wgpu::RenderPassDescriptor<'a>,
//!     crowd: (PassId, wgpu::RenderPassDescriptor<'a>),
//! }
//!
//! fn frame(
//!     crowd: &mut Crowd,
//!     views: &[View; 2],
//!     passes: &Passes<'_>,
//!     time_s: f64,
//! ) -> Result<(), Error> {
//!     let mut encoder = Encoder::new(&crowd.gpu().clone());
//!     crowd.update(time_s)?;
//!     let mut frame = crowd.begin_frame(time_s)?;
//!     let views = frame.prepare(views)?;
//!     frame.draw(&mut encoder, views[1], passes.shadow.0, &passes.shadow.1)?;
//!     drop(encoder.begin_render_pass(&passes.scene)); // and draws in it
//!     frame.draw(&mut encoder, views[0], passes.crowd.0, &passes.crowd.1)?;
//!     encoder.submit()?;
//!     Ok(())
//! }
//! ```
//!
//! # Safety
//! Safe code cannot cause undefined behaviour, whatever it drops, forgets, destroys or does on
//! other threads, with two exceptions that wgpu gives no means to find:
//!
//! - While [`Frame::draw`] runs, no other thread calls `destroy` on an attachment, on the shadow
//!   map that it samples, or on a buffer or texture of its bind groups. Dropping them is fine at
//!   any time.
//! - Command buffers and encoders of another [`wgpu::Instance`] are not given to an [`Encoder`] or
//!   to [`Gpu::queue`], nor buffers of another to a [`BindGroup`]. wgpu may take them for others.
//!   Textures of another instance are refused.
//!
//! [`Crowd`] and [`Frame`] dereference to a [`throng::Crowd`], to read. The handles of Vulkan that
//! it gives do not keep the device alive, so the unsafe code that uses them has to.
//!
//! # Limits
//! - Vertex shaders are throng's own, and colour is written to the first attachment alone.
//! - Groups of the program's shading are made here, because wgpu gives no handles of its own.
//!   [`BindGroup::wgpu`] is the same group, for the program's other pipelines.
//! - An [`Encoder`] is submitted before the next frame of its crowds is prepared, and one with a
//!   [`Frame::reveal`] before it begins.

#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)
)]

#[cfg(all(feature = "wgpu-29", feature = "wgpu-30"))]
compile_error!(
    "throng-wgpu is for one version of wgpu: enable the feature `wgpu-29` or `wgpu-30` and not \
     both. `wgpu-30` is a default feature, so `wgpu-29` needs `default-features = false`."
);
#[cfg(not(any(feature = "wgpu-29", feature = "wgpu-30")))]
compile_error!("throng-wgpu needs one of its features `wgpu-29` and `wgpu-30`");

pub use throng;
#[cfg(feature = "wgpu-29")]
pub extern crate wgpu29 as wgpu;
#[cfg(all(feature = "wgpu-30", not(feature = "wgpu-29")))]
pub extern crate wgpu30 as wgpu;

mod attachments;
mod bind_group;
mod check;
mod crowd;
mod delegated;
mod depth;
mod descriptors;
mod encoder;
mod error;
mod flight;
mod frame;
mod gpu;
mod material;
mod opening;
mod order;
mod pass;
mod rendering;
mod sampled;
mod shading;
mod space;
mod translate;

pub use bind_group::{BindGroup, BindGroupLayout, Binding};
pub use crowd::Crowd;
pub use depth::Depth;
pub use encoder::Encoder;
pub use error::Error;
pub use frame::Frame;
pub use gpu::Gpu;
pub use material::MaterialDesc;
pub use opening::Opening;
pub use pass::PassDesc;
pub use space::{shadow_of, view};

/// The examples of README.md are compiled as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
