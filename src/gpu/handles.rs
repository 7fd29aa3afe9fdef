//! The engine's Vulkan handles.

use super::Enabled;
use ash::vk;

/// The engine's own Vulkan objects, borrowed.
///
/// The parts copy what they need.
#[derive(Clone, Copy)]
pub struct Gpu<'a> {
    /// The instance that `device` comes from.
    pub instance: &'a ash::Instance,
    /// The physical device that `device` was created from.
    pub physical_device: vk::PhysicalDevice,
    /// The device, with at least
    /// [`Device::required_features`](super::Device::required_features) enabled.
    pub device: &'a ash::Device,
    /// The optional features that the engine enabled.
    pub enabled: &'a Enabled,
    /// The engine's cache for every pipeline that is created, or null for none.
    ///
    /// It must not have been created with `EXTERNALLY_SYNCHRONIZED`, unless no other thread uses it
    /// while throng creates pipelines: in `Crowd::new`, `Crowd::create_pass`,
    /// `Crowd::add_character` and `SkinPipeline::new`.
    pub pipeline_cache: vk::PipelineCache,
}
