//! The parts: device memory, the frame ring, meshes on the GPU, the descriptor set layout.
//!
//! The second of the three levels of use: an engine that fills palettes itself and keeps its own
//! pipelines takes [`SkinnedMesh`], [`PaletteRing`], [`SetLayout`] and the shader include
//! `shaders/include/throng.glsl`, and [`SkinStage`](crate::SkinStage) where vertices are to be
//! deformed once for many passes. [`crate::Crowd`] is built of the same parts.
//!
//! Everything here records and never submits. Objects are destroyed explicitly; dropping a live one
//! logs its name as a leak.

mod device;
mod encode;
mod features;
pub mod layout;
mod material;
mod memory;
mod mesh;
mod palette_ring;
pub(crate) mod palettes;
pub(crate) mod pipeline;
mod profile;
mod ranges;
pub(crate) mod ring;
pub(crate) mod sets;
mod static_mesh;
mod texture;
mod textures;
mod upload;

pub use device::Device;
pub use features::{Enabled, Features, Support, check, required};
pub use mesh::{Flip, PrimitiveDraw, SkinnedMesh};
pub use palette_ring::{PaletteRing, PaletteRingDesc};
pub use profile::{Profiler, Scope, ScopeTime};
pub use ranges::Blending;
pub use ring::RingMemory;
pub use sets::{SetBuffers, SetLayout};
pub use static_mesh::{SkinnedPrimitive, SkinnedStream};
pub use upload::Upload;

pub(crate) use device::{Limits, VkCall, limit};
pub(crate) use encode::CHUNK;
pub(crate) use memory::{Buffer, BufferDesc, Object};

use ash::vk;

/// The text of `shaders/include/throng.glsl`, for engines that compile shaders of their own: the
/// declarations of set 0 and the functions that deform a vertex.
pub const THRONG_GLSL: &str = include_str!("../../shaders/include/throng.glsl");

/// The text of `shaders/include/throng_surface.glsl`, which includes `throng.glsl`: what a fragment
/// shader of an engine's own ([`MaterialDesc`](crate::MaterialDesc)) sees of a surface.
pub const THRONG_SURFACE_GLSL: &str = include_str!("../../shaders/include/throng_surface.glsl");

/// The engine's own Vulkan objects, borrowed. The parts copy what they need of it.
#[derive(Clone, Copy)]
pub struct Gpu<'a> {
    /// The instance that `device` comes from.
    pub instance: &'a ash::Instance,
    /// The physical device that `device` was made for.
    pub physical_device: vk::PhysicalDevice,
    /// The device, with at least the features of [`required`] enabled.
    pub device: &'a ash::Device,
    /// What the engine enabled beyond them.
    pub enabled: &'a Enabled,
}
