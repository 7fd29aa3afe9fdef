//! Device features that the crate requires or can use.

use crate::error::{Error, Result};
use ash::vk;
use core::ffi::CStr;

/// The minimum Vulkan version, of instance and device.
pub(super) const API_VERSION: u32 = vk::API_VERSION_1_3;

/// Optional features that the engine enabled.
///
/// The crate works without any of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Enabled {
    /// `VkPhysicalDeviceFeatures::samplerAnisotropy`: textures are sampled anisotropically.
    pub sampler_anisotropy: bool,
    /// `VkPhysicalDeviceFeatures::independentBlend`: passes may have more than one colour
    /// attachment.
    pub independent_blend: bool,
    /// `VkPhysicalDeviceFeatures::drawIndirectFirstInstance`: with a stage cull on the GPU, the draws
    /// themselves say where their lists start, so vertex shaders need not read it.
    pub draw_indirect_first_instance: bool,
    /// Descriptor indexing: one set for all textures of a character.
    ///
    /// Without it there is a set for each material. It requires these three features of
    /// `VkPhysicalDeviceVulkan12Features`: `runtimeDescriptorArray`,
    /// `shaderSampledImageArrayNonUniformIndexing` and `descriptorBindingVariableDescriptorCount`.
    pub descriptor_indexing: bool,
    /// The device extension `VK_KHR_acceleration_structure` and its feature
    /// `accelerationStructure`: deformed vertices may be built into acceleration structures.
    ///
    /// [`CrowdDesc::skinned_usage`](crate::CrowdDesc::skinned_usage) asks for it.
    pub acceleration_structure: bool,
    /// The instance extension `VK_EXT_debug_utils`: objects get names, stages get labels.
    pub debug_utils: bool,
}

impl Enabled {
    /// No optional features.
    pub const NONE: Self = Self {
        sampler_anisotropy: false,
        independent_blend: false,
        draw_indirect_first_instance: false,
        descriptor_indexing: false,
        acceleration_structure: false,
        debug_utils: false,
    };

    /// The optional features that a physical device supports, if it supports what
    /// [`Device`](super::Device) requires.
    ///
    /// Pass those that you enable to [`Device::new`](super::Device::new). Extensions are not
    /// queried: [`Self::acceleration_structure`] and [`Self::debug_utils`] are false.
    ///
    /// ```no_run
    /// use throng::ash::{self, vk};
    /// use throng::gpu::Enabled;
    ///
    /// /// # Safety
    /// /// `instance` is alive and was created for Vulkan 1.3 or later.
    /// unsafe fn choose(instance: &ash::Instance) -> Option<(vk::PhysicalDevice, Enabled)> {
    ///     let devices = unsafe { instance.enumerate_physical_devices() }.ok()?;
    ///     let mut devices = devices.into_iter();
    ///     devices.find_map(|device| match unsafe { Enabled::supported(instance, device) } {
    ///         Ok(optional) => Some((device, optional)),
    ///         Err(error) => {
    ///             eprintln!("{error}");
    ///             None
    ///         }
    ///     })
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] names all missing requirements, or only the version if that is too
    /// low.
    ///
    /// # Safety
    /// - `physical_device` comes from `instance`, and both are alive.
    /// - `instance` was created for [`Device::API_VERSION`](super::Device::API_VERSION) or later.
    pub unsafe fn supported(
        instance: &ash::Instance,
        physical_device: vk::PhysicalDevice,
    ) -> Result<Self> {
        // SAFETY: the handles are alive and belong together, by this function's contract.
        let properties = unsafe { instance.get_physical_device_properties(physical_device) };
        let device = device_name(&properties);
        if properties.api_version < API_VERSION {
            return Err(Error::Unsupported {
                device,
                missing: vec!["Vulkan 1.3"],
            });
        }
        let mut features12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut features13 = vk::PhysicalDeviceVulkan13Features::default();
        let mut features = vk::PhysicalDeviceFeatures2::default()
            .push_next(&mut features12)
            .push_next(&mut features13);
        // SAFETY: the handles are alive, by this function's contract; the device supports at least
        // Vulkan 1.3, so it knows the chained structures.
        unsafe { instance.get_physical_device_features2(physical_device, &mut features) };
        let features10 = features.features;
        let required = [
            (features12.buffer_device_address, "bufferDeviceAddress"),
            (features13.dynamic_rendering, "dynamicRendering"),
            (features13.synchronization2, "synchronization2"),
        ];
        let missing = required.into_iter().filter(|(has, _)| *has == vk::FALSE);
        let missing: Vec<_> = missing.map(|(_, name)| name).collect();
        if !missing.is_empty() {
            return Err(Error::Unsupported { device, missing });
        }
        let indexing = [
            features12.runtime_descriptor_array,
            features12.shader_sampled_image_array_non_uniform_indexing,
            features12.descriptor_binding_variable_descriptor_count,
        ];
        Ok(Self {
            sampler_anisotropy: features10.sampler_anisotropy == vk::TRUE,
            independent_blend: features10.independent_blend == vk::TRUE,
            draw_indirect_first_instance: features10.draw_indirect_first_instance == vk::TRUE,
            descriptor_indexing: indexing.iter().all(|has| *has == vk::TRUE),
            ..Self::NONE
        })
    }

    /// Sets [`Self::sampler_anisotropy`].
    #[must_use]
    pub const fn with_sampler_anisotropy(mut self, on: bool) -> Self {
        self.sampler_anisotropy = on;
        self
    }

    /// Sets [`Self::independent_blend`].
    #[must_use]
    pub const fn with_independent_blend(mut self, on: bool) -> Self {
        self.independent_blend = on;
        self
    }

    /// Sets [`Self::draw_indirect_first_instance`].
    #[must_use]
    pub const fn with_draw_indirect_first_instance(mut self, on: bool) -> Self {
        self.draw_indirect_first_instance = on;
        self
    }

    /// Sets [`Self::descriptor_indexing`].
    #[must_use]
    pub const fn with_descriptor_indexing(mut self, on: bool) -> Self {
        self.descriptor_indexing = on;
        self
    }

    /// Sets [`Self::acceleration_structure`].
    #[must_use]
    pub const fn with_acceleration_structure(mut self, on: bool) -> Self {
        self.acceleration_structure = on;
        self
    }

    /// Sets [`Self::debug_utils`].
    #[must_use]
    pub const fn with_debug_utils(mut self, on: bool) -> Self {
        self.debug_utils = on;
        self
    }
}

pub(super) fn device_name(properties: &vk::PhysicalDeviceProperties) -> Box<str> {
    properties.device_name_as_c_str().map_or_else(
        |_| "unnamed device".into(),
        |name: &CStr| name.to_string_lossy().into(),
    )
}
