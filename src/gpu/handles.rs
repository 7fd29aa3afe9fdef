//! The engine's handles, and the text of the shader includes.

use super::Enabled;
use ash::vk;

/// The text of `shaders/include/throng.glsl`.
///
/// It declares set 0 and the functions that deform a vertex, for engines that compile their own
/// shaders.
pub const THRONG_GLSL: &str = include_str!("../../shaders/include/throng.glsl");

/// The text of `shaders/include/throng_surface.glsl`, which includes `throng.glsl`.
///
/// It declares the surface that an engine's own fragment shader
/// ([`MaterialDesc`](crate::MaterialDesc)) receives.
pub const THRONG_SURFACE_GLSL: &str = include_str!("../../shaders/include/throng_surface.glsl");

/// The engine's own Vulkan objects, borrowed.
///
/// The parts copy what they need.
#[derive(Clone, Copy)]
pub struct Gpu<'a> {
    /// The instance that `device` comes from.
    pub instance: &'a ash::Instance,
    /// The physical device that `device` was created from.
    pub physical_device: vk::PhysicalDevice,
    /// The device, with at least the features of [`required`](crate::gpu::required) enabled.
    pub device: &'a ash::Device,
    /// The optional features that the engine enabled.
    pub enabled: &'a Enabled,
}
