//! The parts: device memory, the frame ring, meshes on the GPU, the descriptor set layout.

use super::Enabled;
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
    /// The device, with at least the features of [`required`](crate::gpu::required) enabled.
    pub device: &'a ash::Device,
    /// What the engine enabled beyond them.
    pub enabled: &'a Enabled,
}
