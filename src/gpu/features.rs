//! Device features that the crate requires or can use.

use super::feature_structs::FeatureStruct;
use crate::error::{Error, Result};
use ash::vk;
use core::ffi::CStr;

/// The minimum Vulkan version, of instance and device.
pub(super) const API_VERSION: u32 = vk::API_VERSION_1_3;

/// A set of device features: what a device supports, what to enable, or what was enabled.
///
/// Vulkan cannot be asked which features of a device are enabled, so the engine says it to
/// [`Device::new`](super::Device::new). There are three ways:
///
/// - Before the device is created, [`FeatureChain::add_to`](super::FeatureChain::add_to) takes the
///   engine's `VkDeviceCreateInfo` and enables a set in it, whichever structures it has.
/// - An engine that makes these structures itself calls [`Self::enable_in`] for each of them,
///   before it creates the device.
/// - [`Self::of_device`] and [`Self::of`] read what an engine enables.
///
/// # Requirements
/// Only these are required:
///
/// | | reason |
/// |---|---|
/// | Vulkan 1.3, of instance and device | cull mode and front face are dynamic state; with static state there would be up to three times as many pipelines |
/// | `bufferDeviceAddress` | every instance has the address of its palette, so palettes in all buffers stand in one draw |
/// | a queue with graphics and compute | the stages before a draw are compute shaders in the same command buffer |
///
/// Every device of Vulkan 1.3 supports `bufferDeviceAddress`. throng needs no device extension and
/// no more than the minimum limits of Vulkan 1.3. It does not need `maintenance4`, because its
/// shaders are SPIR-V 1.5, and not `synchronization2`, because no barrier of it is finer than those
/// of Vulkan 1.0. An engine that enables `vulkanMemoryModel` must enable
/// `vulkanMemoryModelDeviceScope` as well: the atomics of stages on the GPU have that scope.
///
/// The fields that say so are optional. Without them something else is missing or slower.
///
/// ```
/// use throng::ash::vk;
/// use throng::gpu::Features;
///
/// // The engine's own structures.
/// let mut v12 = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true);
/// let mut v13 = vk::PhysicalDeviceVulkan13Features::default();
/// let wanted = Features::REQUIRED.with_dynamic_rendering(true);
/// wanted.enable_in(&mut v12);
/// wanted.enable_in(&mut v13);
/// assert_eq!((v12.buffer_device_address, v13.dynamic_rendering), (vk::TRUE, vk::TRUE));
/// // Create the device with them, and give this to `Device::new`:
/// assert_eq!(Features::of(&v12).union(Features::of(&v13)), wanted);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct Features {
    /// `bufferDeviceAddress`, which is required.
    pub buffer_device_address: bool,
    /// `dynamicRendering`: passes for `vkCmdBeginRendering`.
    ///
    /// Passes for a `VkRenderPass` do not need it.
    pub dynamic_rendering: bool,
    /// `multiview`: passes with a view mask.
    pub multiview: bool,
    /// `VkPhysicalDeviceFeatures::samplerAnisotropy`: textures are sampled anisotropically.
    pub sampler_anisotropy: bool,
    /// `VkPhysicalDeviceFeatures::independentBlend`: passes may have more than one colour
    /// attachment.
    pub independent_blend: bool,
    /// `VkPhysicalDeviceFeatures::drawIndirectFirstInstance`: with a stage cull on the GPU, the
    /// draws themselves say where their lists start, so vertex shaders need not read it.
    pub draw_indirect_first_instance: bool,
    /// Descriptor indexing: one set for all textures of a character.
    ///
    /// Without it there is a set for each material. It requires these three features:
    /// `runtimeDescriptorArray`, `shaderSampledImageArrayNonUniformIndexing` and
    /// `descriptorBindingVariableDescriptorCount`.
    pub descriptor_indexing: bool,
    /// The device extension `VK_KHR_acceleration_structure` and its feature
    /// `accelerationStructure`: deformed vertices may be built into acceleration structures.
    ///
    /// [`CrowdDesc::skinned_usage`](crate::CrowdDesc::skinned_usage) asks for it.
    pub acceleration_structure: bool,
    /// The instance extension `VK_EXT_debug_utils`: objects get names, stages get labels.
    ///
    /// It is no feature of the device, so no structure says it. Set it with
    /// [`Self::with_debug_utils`].
    pub debug_utils: bool,
}

impl Features {
    /// No features.
    pub const NONE: Self = Self {
        buffer_device_address: false,
        dynamic_rendering: false,
        multiview: false,
        sampler_anisotropy: false,
        independent_blend: false,
        draw_indirect_first_instance: false,
        descriptor_indexing: false,
        acceleration_structure: false,
        debug_utils: false,
    };

    /// The features that [`Device::new`](super::Device::new) requires.
    pub const REQUIRED: Self = Self {
        buffer_device_address: true,
        ..Self::NONE
    };

    /// The features that a physical device supports, if it supports what throng requires.
    ///
    /// An engine may enable all of them. Extensions are not queried:
    /// [`Self::acceleration_structure`] and [`Self::debug_utils`] are false.
    ///
    /// ```no_run
    /// use throng::ash::{self, vk};
    /// use throng::gpu::Features;
    ///
    /// /// # Safety
    /// /// `instance` is alive and was created for Vulkan 1.3 or later.
    /// unsafe fn choose(instance: &ash::Instance) -> Option<(vk::PhysicalDevice, Features)> {
    ///     let devices = unsafe { instance.enumerate_physical_devices() }.ok()?;
    ///     let mut devices = devices.into_iter();
    ///     devices.find_map(|device| match unsafe { Features::supported(instance, device) } {
    ///         Ok(features) => Some((device, features)),
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
        let mut features11 = vk::PhysicalDeviceVulkan11Features::default();
        let mut features12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut features13 = vk::PhysicalDeviceVulkan13Features::default();
        let mut features = vk::PhysicalDeviceFeatures2::default()
            .push_next(&mut features11)
            .push_next(&mut features12)
            .push_next(&mut features13);
        // SAFETY: the handles are alive, by this function's contract; the device supports at least
        // Vulkan 1.3, so it knows the chained structures.
        unsafe { instance.get_physical_device_features2(physical_device, &mut features) };
        let supported = Self::of(&features.features)
            .union(Self::of(&features11))
            .union(Self::of(&features12))
            .union(Self::of(&features13));
        match Self::REQUIRED.without(&supported) {
            Self::NONE => Ok(supported),
            missing => Err(Error::Unsupported {
                device,
                missing: missing.names(),
            }),
        }
    }

    /// The features of this set that a structure enables.
    ///
    /// All others are false.
    #[must_use]
    pub fn of(structure: &impl FeatureStruct) -> Self {
        structure.enabled()
    }

    /// Enables those features of this set that the structure has.
    ///
    /// It disables none.
    pub fn enable_in(&self, structure: &mut impl FeatureStruct) {
        structure.enable(self);
    }

    /// The features of this or the other set.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self {
            buffer_device_address: self.buffer_device_address | other.buffer_device_address,
            dynamic_rendering: self.dynamic_rendering | other.dynamic_rendering,
            multiview: self.multiview | other.multiview,
            sampler_anisotropy: self.sampler_anisotropy | other.sampler_anisotropy,
            independent_blend: self.independent_blend | other.independent_blend,
            draw_indirect_first_instance: self.draw_indirect_first_instance
                | other.draw_indirect_first_instance,
            descriptor_indexing: self.descriptor_indexing | other.descriptor_indexing,
            acceleration_structure: self.acceleration_structure | other.acceleration_structure,
            debug_utils: self.debug_utils | other.debug_utils,
        }
    }

    /// The features of this set that the other set does not have.
    #[must_use]
    pub const fn without(self, other: &Self) -> Self {
        Self {
            buffer_device_address: self.buffer_device_address & !other.buffer_device_address,
            dynamic_rendering: self.dynamic_rendering & !other.dynamic_rendering,
            multiview: self.multiview & !other.multiview,
            sampler_anisotropy: self.sampler_anisotropy & !other.sampler_anisotropy,
            independent_blend: self.independent_blend & !other.independent_blend,
            draw_indirect_first_instance: self.draw_indirect_first_instance
                & !other.draw_indirect_first_instance,
            descriptor_indexing: self.descriptor_indexing & !other.descriptor_indexing,
            acceleration_structure: self.acceleration_structure & !other.acceleration_structure,
            debug_utils: self.debug_utils & !other.debug_utils,
        }
    }

    /// True if `structure` has one of the features of this set.
    pub(super) fn any_of(&self, structure: &impl FeatureStruct) -> bool {
        self.without(&structure.has()) != *self
    }

    /// The names that Vulkan has for the features of this set.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        let all: [(bool, &[&'static str]); 9] = [
            (self.buffer_device_address, &["bufferDeviceAddress"]),
            (self.dynamic_rendering, &["dynamicRendering"]),
            (self.multiview, &["multiview"]),
            (self.sampler_anisotropy, &["samplerAnisotropy"]),
            (self.independent_blend, &["independentBlend"]),
            (
                self.draw_indirect_first_instance,
                &["drawIndirectFirstInstance"],
            ),
            (
                self.descriptor_indexing,
                &[
                    "runtimeDescriptorArray",
                    "shaderSampledImageArrayNonUniformIndexing",
                    "descriptorBindingVariableDescriptorCount",
                ],
            ),
            (self.acceleration_structure, &["accelerationStructure"]),
            (self.debug_utils, &["VK_EXT_debug_utils"]),
        ];
        let all = all.into_iter().filter(|(has, _)| *has);
        all.flat_map(|(_, names)| names).copied().collect()
    }

    /// Sets [`Self::dynamic_rendering`].
    #[must_use]
    pub const fn with_dynamic_rendering(mut self, on: bool) -> Self {
        self.dynamic_rendering = on;
        self
    }

    /// Sets [`Self::multiview`].
    #[must_use]
    pub const fn with_multiview(mut self, on: bool) -> Self {
        self.multiview = on;
        self
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
